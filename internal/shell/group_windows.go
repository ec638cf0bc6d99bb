package shell

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Find returns the bash of Git for Windows. The bash.exe of the system folder
// is passed over: it starts another system, which has other paths.
func Find() (string, error) {
	for _, name := range []string{"ProgramFiles", "ProgramW6432", "LocalAppData"} {
		dir := os.Getenv(name)
		if name == "LocalAppData" {
			dir = filepath.Join(dir, "Programs")
		}
		if path := filepath.Join(dir, "Git", "bin", "bash.exe"); dir != "" && isFile(path) {
			return path, nil
		}
	}
	system := strings.ToLower(os.Getenv("SystemRoot"))
	path, err := exec.LookPath("bash.exe")
	if err == nil && (system == "" || !strings.HasPrefix(strings.ToLower(path), system)) {
		return path, nil
	}
	return "", errors.New("there is no bash on this system: install Git for Windows, which brings one")
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// A group is a job object that holds the shell and what it starts. It ends
// its processes when its last handle is closed, so also when this process dies.
type group struct {
	job     windows.Handle // 0 if the system refused one
	process *os.Process
}

func prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
}

func newGroup(cmd *exec.Cmd) *group {
	g := &group{process: cmd.Process}
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return g
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE},
	}
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err == nil {
		err = assign(job, uint32(cmd.Process.Pid))
	}
	if err != nil {
		windows.CloseHandle(job)
		return g
	}
	g.job = job
	return g
}

func assign(job windows.Handle, pid uint32) error {
	h, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, pid)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(h)
	return windows.AssignProcessToJobObject(job, h)
}

// ask does nothing: there is no signal that a program without a console hears.
func (g *group) ask() {}

func (g *group) kill() {
	if g.job == 0 {
		_ = g.process.Kill() // an error says that it has ended
		return
	}
	_ = windows.TerminateJobObject(g.job, 1)
}

func (g *group) alive() bool {
	if g.job == 0 {
		return false
	}
	var info accounting
	err := windows.QueryInformationJobObject(g.job, windows.JobObjectBasicAccountingInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)), nil)
	return err == nil && info.ActiveProcesses > 0
}

// accounting is the system's JOBOBJECT_BASIC_ACCOUNTING_INFORMATION.
type accounting struct {
	UserTime, KernelTime, PeriodUserTime, PeriodKernelTime  int64
	PageFaults, Processes, ActiveProcesses, EndedByTheLimit uint32
}

func (g *group) close() {
	if g.job != 0 {
		windows.CloseHandle(g.job)
		g.job = 0
	}
}

func (g *group) strays() []int { return nil }

func killAll([]int) {}

func signalOf(*os.ProcessState) string { return "" }
