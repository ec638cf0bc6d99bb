package main

import (
	"os"
	"path/filepath"
	"time"
)

// byHand makes changes to a file as a careful program must, with nothing
// around them: a record to a log, synced; then the file anew beside the old
// one, synced, renamed, and the folder synced. It gives the median time of one
// without the fsyncs. On an idle disk that is little; on a busy one creating
// and renaming wait for what others have begun to sync.
func byHand(dir, path string) (time.Duration, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	log, err := os.Create(filepath.Join(dir, "hand.log"))
	if err != nil {
		return 0, err
	}
	defer log.Close()
	const times = 30
	own := make([]time.Duration, times)
	for i := range own {
		begin := time.Now()
		disk, err := changeByHand(log, dir, data)
		if err != nil {
			return 0, err
		}
		own[i] = time.Since(begin) - disk
	}
	return median(own), nil
}

// changeByHand makes one change, and gives the time in fsync.
func changeByHand(log *os.File, dir string, data []byte) (disk time.Duration, err error) {
	sync := func(f *os.File) error {
		start := time.Now()
		err := f.Sync()
		disk += time.Since(start)
		return err
	}
	if _, err := log.Write(make([]byte, 1000)); err != nil {
		return 0, err
	}
	if err := sync(log); err != nil {
		return 0, err
	}
	f, err := os.CreateTemp(dir, "hand")
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if _, err := f.Write(data); err != nil {
		return 0, err
	}
	if err := sync(f); err != nil {
		return 0, err
	}
	if err := os.Rename(f.Name(), filepath.Join(dir, "hand.txt")); err != nil {
		return 0, err
	}
	d, err := os.Open(dir)
	if err != nil {
		return 0, err
	}
	defer d.Close()
	_ = sync(d) // some systems have no fsync of a folder
	return disk, nil
}
