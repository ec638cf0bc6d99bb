package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"

	"dsh-acp/internal/app"
	"dsh-acp/internal/config"
)

// login asks for a key without showing it and stores it.
func login(env *environment, args []string) error {
	if err := parse("login", args, none); err != nil {
		return err
	}
	a := env.app()
	cfg, err := a.Config()
	if err != nil {
		return err
	}
	if cfg.Provider == config.Scripted {
		return errors.New("login: the scripted provider needs no key")
	}
	text, err := readSecret(fmt.Sprintf("API key for %s (not shown): ", cfg.Provider))
	if err != nil {
		return fmt.Errorf("login: %w", err)
	}
	key, err := config.ParseKey(text)
	if err != nil {
		return fmt.Errorf("login: %w", err)
	}
	where, err := a.Keys().Set(cfg.Provider, key)
	if err != nil {
		return fmt.Errorf("login: %w", err)
	}
	fmt.Printf("The key for %s is stored in: %s\n", cfg.Provider, where)
	return nil
}

// readSecret reads a line, from a terminal without echo, else from a pipe.
func readSecret(prompt string) (string, error) {
	fd := int(os.Stdin.Fd())
	if term.IsTerminal(fd) {
		fmt.Fprint(os.Stderr, prompt)
		secret, err := term.ReadPassword(fd)
		fmt.Fprintln(os.Stderr)
		return string(secret), err
	}
	line, err := bufio.NewReader(os.Stdin).ReadString('\n')
	if strings.TrimSpace(line) == "" && err != nil {
		return "", errors.New("no key was given on standard input")
	}
	return line, nil
}

// logout forgets the stored key.
func logout(env *environment, args []string) error {
	if err := parse("logout", args, none); err != nil {
		return err
	}
	a := env.app()
	cfg, err := a.Config()
	if err != nil {
		return err
	}
	if err := a.Keys().Delete(cfg.Provider); err != nil {
		return fmt.Errorf("logout: %w", err)
	}
	fmt.Printf("No key for %s is stored any more.\n", cfg.Provider)
	return nil
}

// doctor prints what is in force. It fails if the settings are bad or no key is found.
func doctor(env *environment, args []string) error {
	if err := parse("doctor", args, none); err != nil {
		return err
	}
	a := env.app()
	cfg, loadErr := a.Config()
	cred, credErr := cfg.Credential(env.source, a.Keys())
	exe := loginCommand()[0]
	report := cfg.Doctor(loadErr, cred, credErr, exe)
	fmt.Print(report.Text())
	fmt.Printf("\nThis build: %s.\n", app.Grammars())
	if loadErr != nil || credErr != nil {
		return exitCode(1)
	}
	return nil
}
