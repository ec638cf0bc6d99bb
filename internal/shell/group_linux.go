package shell

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
)

// endWithParent has the kernel end the shell when this process dies without
// having had the time to.
func endWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }

// strays returns the shell's descendants that have left its group, which a
// signal to the group does not reach.
func (g *group) strays() []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	parent, groups := map[int]int{}, map[int]int{}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		// "pid (name) state ppid pgrp …", where the name may hold anything
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		at := bytes.LastIndexByte(stat, ')')
		if err != nil || at < 0 {
			continue // it has ended
		}
		fields := bytes.Fields(stat[at+1:])
		if len(fields) < 3 {
			continue
		}
		parent[pid], _ = strconv.Atoi(string(fields[1]))
		groups[pid], _ = strconv.Atoi(string(fields[2]))
	}
	var out []int
	for pid := range parent {
		if groups[pid] == g.id {
			continue
		}
		for up, steps := parent[pid], 0; up > 1 && steps < len(parent); up, steps = parent[up], steps+1 {
			if up == g.id {
				out = append(out, pid)
				break
			}
		}
	}
	return out
}
