package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// errNoProc says that this system does not tell what a process uses.
var errNoProc = errors.New("memory and CPU of the program are read from /proc, which this system does not have")

// memory is what a process has in memory, in bytes.
type memory struct {
	resident, anon, file, peak int64
}

func memoryOf(pid int) (memory, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return memory{}, errors.Join(errNoProc, err)
	}
	var m memory
	for name, to := range map[string]*int64{"VmRSS": &m.resident, "RssAnon": &m.anon, "RssFile": &m.file, "VmHWM": &m.peak} {
		kb, err := strconv.ParseInt(strings.TrimSuffix(field(string(data), name), " kB"), 10, 64)
		if err != nil {
			return memory{}, fmt.Errorf("/proc status: %s: %w", name, err)
		}
		*to = kb << 10
	}
	return m, nil
}

// resetPeak makes the peak start again from what is in memory now.
func resetPeak(pid int) error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0)
}

// tick is the unit of times in /proc/PID/stat, the same on all that Go runs on.
const tick = 10 * time.Millisecond

// cpuOf is the CPU time that a process has used, all threads together.
func cpuOf(pid int) (time.Duration, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, errors.Join(errNoProc, err)
	}
	return cpuFrom(string(data))
}

// cpuFrom reads user and system time. The name in the second field may hold
// anything, so fields are counted from behind it.
func cpuFrom(stat string) (time.Duration, error) {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 13 {
		return 0, fmt.Errorf("/proc stat: %d fields", len(fields))
	}
	user, err := strconv.ParseInt(fields[11], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("/proc stat: user time: %w", err)
	}
	system, err := strconv.ParseInt(fields[12], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("/proc stat: system time: %w", err)
	}
	return time.Duration(user+system) * tick, nil
}

// mib and ms are the units of figures.
func mib(bytes int64) float64    { return float64(bytes) / (1 << 20) }
func ms(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }
