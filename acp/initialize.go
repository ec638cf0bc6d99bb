package acp

import (
	"encoding/json"

	acpsdk "github.com/coder/acp-go-sdk"
)

// protocolVersion is the only one that is served. Version 2 is a draft; a
// client that offers it is told 1, which every client speaks.
const protocolVersion = 1

// client is what the client said of itself.
type client struct {
	terminal       bool // runs programs in terminals
	terminalOutput bool // draws display terminals from _meta
	files          bool // reads and writes files for us
	terminalAuth   bool // runs our own command with the method's arguments
	metaAuth       bool // runs the command line in _meta.terminal-auth
	booleans       bool // takes options that are on or off
	compaction     bool // takes compaction_update
}

// sessionCaps are what the library drops of a client's capabilities.
type sessionCaps struct {
	ClientCapabilities struct {
		Session struct {
			ConfigOptions struct {
				Boolean json.RawMessage `json:"boolean"`
			} `json:"configOptions"`
			Compaction json.RawMessage `json:"compaction"`
		} `json:"session"`
	} `json:"clientCapabilities"`
}

// methods are the requests that are served. Handlers run on the read loop.
var methods map[string]func(*Server, *request)

func init() {
	methods = map[string]func(*Server, *request){
		"initialize":                (*Server).initialize,
		"authenticate":              (*Server).authenticate,
		"logout":                    (*Server).logout,
		"session/new":               (*Server).newSession,
		"session/load":              (*Server).loadSession,
		"session/resume":            (*Server).resumeSession,
		"session/list":              (*Server).listSessions,
		"session/fork":              (*Server).forkSession,
		"session/close":             (*Server).closeSession,
		"session/delete":            (*Server).deleteSession,
		"session/prompt":            (*Server).prompt,
		"session/set_mode":          (*Server).setMode,
		"session/set_config_option": (*Server).setOption,
	}
}

type empty struct{}

type initializeResult struct {
	ProtocolVersion   int               `json:"protocolVersion"`
	AgentCapabilities agentCapabilities `json:"agentCapabilities"`
	AgentInfo         agentInfo         `json:"agentInfo"`
	AuthMethods       []authMethod      `json:"authMethods"`
}

type agentInfo struct {
	Name    string `json:"name"`
	Title   string `json:"title"`
	Version string `json:"version"`
}

type agentCapabilities struct {
	LoadSession         bool                `json:"loadSession"`
	PromptCapabilities  promptCapabilities  `json:"promptCapabilities"`
	McpCapabilities     mcpCapabilities     `json:"mcpCapabilities"`
	SessionCapabilities sessionCapabilities `json:"sessionCapabilities"`
	Auth                authCapabilities    `json:"auth"`
}

type promptCapabilities struct {
	Image           bool `json:"image"`
	Audio           bool `json:"audio"`
	EmbeddedContext bool `json:"embeddedContext"`
}

type mcpCapabilities struct {
	HTTP bool `json:"http"`
	SSE  bool `json:"sse"`
}

type sessionCapabilities struct {
	AdditionalDirectories empty `json:"additionalDirectories"`
	Close                 empty `json:"close"`
	Delete                empty `json:"delete"`
	Fork                  empty `json:"fork"` // not in the stable schema yet
	List                  empty `json:"list"`
	Resume                empty `json:"resume"`
}

type authCapabilities struct {
	Logout empty `json:"logout"`
}

type authMethod struct {
	ID          string          `json:"id"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Type        string          `json:"type,omitempty"`
	Args        []string        `json:"args,omitempty"`
	Meta        *authMethodMeta `json:"_meta,omitempty"`
}

type authMethodMeta struct {
	TerminalAuth terminalAuth `json:"terminal-auth"`
}

type terminalAuth struct {
	Command string   `json:"command"`
	Args    []string `json:"args"`
	Label   string   `json:"label"`
}

// loginMethod is the id of the one way to log in.
const loginMethod = "login"

// initialize answers on the read loop: it touches neither file nor network.
func (s *Server) initialize(r *request) {
	var p acpsdk.InitializeRequest
	if err := json.Unmarshal(r.params, &p); err != nil {
		s.fail(r, badParams("initialize", r.params, err))
		return
	}
	caps := p.ClientCapabilities
	c := client{
		terminal:       caps.Terminal,
		terminalOutput: caps.Meta["terminal_output"] == true,
		files:          caps.Fs.ReadTextFile && caps.Fs.WriteTextFile,
		terminalAuth:   caps.Auth.Terminal,
		metaAuth:       caps.Meta["terminal-auth"] == true,
	}
	var more sessionCaps
	if json.Unmarshal(r.params, &more) == nil {
		session := more.ClientCapabilities.Session
		c.booleans = isObject(session.ConfigOptions.Boolean)
		c.compaction = isObject(session.Compaction)
	}
	s.mu.Lock()
	s.client = c
	s.mu.Unlock()
	s.answer(r, initializeResult{
		ProtocolVersion: protocolVersion,
		AgentCapabilities: agentCapabilities{
			LoadSession:        true,
			PromptCapabilities: promptCapabilities{Image: true, EmbeddedContext: true},
		},
		AgentInfo:   agentInfo{Name: s.cfg.Name, Title: s.cfg.Title, Version: s.cfg.Version},
		AuthMethods: []authMethod{s.authMethod(c)},
	})
}

// isObject reports whether a capability is there: as an object, empty or not.
func isObject(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '{' }

// authMethod draws the way to log in as the client can use it. A client that
// runs no terminal is told what to type; its authenticate then looks whether
// the key is there.
func (s *Server) authMethod(c client) authMethod {
	m := authMethod{
		ID: loginMethod, Name: "API key",
		Description: `Asks for an API key in a terminal and stores it ("dsh-acp login"). ANTHROPIC_API_KEY in the environment works too.`,
	}
	if len(s.cfg.Login) == 0 {
		return m
	}
	if c.terminalAuth || c.metaAuth {
		m.Type, m.Args = "terminal", s.cfg.Login[1:]
	}
	if c.metaAuth {
		m.Meta = &authMethodMeta{terminalAuth{Command: s.cfg.Login[0], Args: s.cfg.Login[1:], Label: "dsh-acp login"}}
	}
	return m
}
