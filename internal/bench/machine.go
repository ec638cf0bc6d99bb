package main

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// machine tells on what the figures were measured.
func machine() string {
	cpu := cmp.Or(valueOf("/proc/cpuinfo", "model name"), "unknown CPU")
	memory := cmp.Or(valueOf("/proc/meminfo", "MemTotal"), "unknown")
	kernel := cmp.Or(firstLine("/proc/sys/kernel/osrelease"), "unknown release")
	load := cmp.Or(firstLine("/proc/loadavg"), "unknown")
	return fmt.Sprintf("%s, %d cores, memory %s; %s/%s, kernel %s; %s\n%s; load %s\n\n",
		cpu, runtime.NumCPU(), memory, runtime.GOOS, runtime.GOARCH, kernel, runtime.Version(),
		time.Now().UTC().Format("2006-01-02 15:04 MST"), load)
}

// valueOf returns the value of the first line "name : value" of a file, ""
// where there is none.
func valueOf(path, name string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return field(string(data), name)
}

func field(text, name string) string {
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(line, ":")
		if ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func firstLine(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(data), "\n")
	return line
}
