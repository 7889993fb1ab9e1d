/** Differences between the runtimes that a client or an operator can see. */
import assert from 'node:assert/strict';
import type { LlmApi } from '@lodge/ports';
import type { ToolCall } from '@lodge/testkit/llm';

export interface Subject {
  readonly kind: 'runtime_a' | 'runtime_b';
  /** The name as in `Template <name> ready`. */
  readonly name: string;
  /** The record's `model` for this model of a provider, by default of `stub`. */
  model(name: string, provider?: string): string;
  /** The wire formats that the runtime speaks itself. */
  readonly apis: readonly LlmApi[];
  shell(command: string): ToolCall;
  /** As `shell`, for a command that takes up to two minutes. The call waits for its end. */
  work(command: string): ToolCall;
  /** Calls of further tools that run code, here code that prints `seen: <value>.` of a variable, or `none`. */
  scripts(variable: string): readonly ToolCall[];
  /** Calls of the tools for pages. A `ref` names an element as the runtime's own text of the page does. */
  readonly browsing: {
    /** The name of one of the tools. */
    readonly tool: string;
    open(url: string): ToolCall;
    look(): ToolCall;
    type(ref: string, text: string): ToolCall;
    press(key: string): ToolCall;
    click(ref: string): ToolCall;
  };
  write(path: string, content: string): ToolCall;
  /** A call of a tool that the host offers. */
  hostTool(name: string, args: ToolCall['arguments']): ToolCall;
  /** The official client of the Model Context Protocol in its image, with a program for it in `clients`. */
  readonly client: { readonly file: string; readonly interpreter: string };
  /** Files of the guest that the specification names, each with a check of its form. */
  readonly files: Readonly<Record<string, (text: string) => void>>;
  /** A language's prompt in its image, and a line that makes it print plumplum. */
  readonly interactive: { readonly program: string; readonly line: string };
  /** Whether its gateway is a Node process, which can be told from outside to evaluate code. */
  readonly hasInspector: boolean;
  readonly hasMembers: boolean;
  readonly hasDashboard: boolean;
  /** Whether a cold boot takes only seconds, so the suite can afford more than one. */
  readonly bootsQuickly: boolean;
}

const ofBrowser = (args: ToolCall['arguments']): ToolCall => ({ name: 'browser', arguments: args });

export const openclaw: Subject = {
  kind: 'runtime_a',
  name: 'openclaw',
  model: (name, provider = 'stub') => `${provider}/${name}`,
  apis: ['openai-completions', 'openai-responses', 'anthropic-messages', 'google-generative-ai'],
  shell: (command) => ({ name: 'exec', arguments: { command } }),
  work: (command) => ({ name: 'exec', arguments: { command, yieldMs: 120_000 } }),
  scripts: () => [],
  browsing: {
    tool: 'browser',
    open: (targetUrl) => ofBrowser({ action: 'open', targetUrl }),
    look: () => ofBrowser({ action: 'snapshot' }),
    type: (ref, text) => ofBrowser({ action: 'act', kind: 'type', ref, text }),
    press: (key) => ofBrowser({ action: 'act', kind: 'press', key }),
    click: (ref) => ofBrowser({ action: 'act', kind: 'click', ref }),
  },
  write: (path, content) => ({ name: 'write', arguments: { path, content } }),
  hostTool: (name, args) => ({ name: `lodge__${name}`, arguments: args }),
  client: { file: 'client.mjs', interpreter: 'node' },
  files: {
    '/home/agent/.openclaw/openclaw.json': (text) => {
      const { models } = JSON.parse(text) as { models: { providers: Record<string, { baseUrl: string }> } };
      for (const { baseUrl } of Object.values(models.providers)) assert.match(baseUrl, /^http:\/\/10\.0\.2\.2:4000\//);
    },
    '/workspace/auth-profiles.json': (text) => {
      const { profiles } = JSON.parse(text) as { profiles: Record<string, { key: string }> };
      for (const { key } of Object.values(profiles)) assert.equal(key, 'added-by-the-host');
    },
  },
  interactive: { program: 'node', line: '"plum".repeat(2)' },
  hasInspector: true,
  hasMembers: true,
  hasDashboard: false,
  bootsQuickly: false,
};

export const hermes: Subject = {
  kind: 'runtime_b',
  name: 'hermes',
  model: (name) => name,
  apis: ['openai-completions', 'openai-responses', 'anthropic-messages'],
  shell: (command) => ({ name: 'terminal', arguments: { command } }),
  work: (command) => ({ name: 'terminal', arguments: { command, timeout: 600 } }),
  scripts: (variable) => {
    const code = `import os\nprint("seen: " + os.environ.get("${variable}", "none") + ".")`;
    return [{ name: 'execute_code', arguments: { code } }];
  },
  browsing: {
    tool: 'browser_navigate',
    open: (url) => ({ name: 'browser_navigate', arguments: { url } }),
    look: () => ({ name: 'browser_snapshot', arguments: {} }),
    type: (ref, text) => ({ name: 'browser_type', arguments: { ref: `@${ref}`, text } }),
    press: (key) => ({ name: 'browser_press', arguments: { key } }),
    click: (ref) => ({ name: 'browser_click', arguments: { ref: `@${ref}` } }),
  },
  write: (path, content) => ({ name: 'write_file', arguments: { path, content } }),
  hostTool: (name, args) => ({ name: `mcp__lodge__${name}`, arguments: args }),
  client: { file: 'client.py', interpreter: '/opt/hermes/bin/python' },
  files: {
    '/workspace/config.yaml': (text) => {
      assert.match(text, /^model: \{$/m);
      assert.match(text, /"base_url": "\$\{LODGE_BROKER_URL\}\/openai\/v1"/);
    },
    '/workspace/.env': (text) => {
      const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
      assert.deepEqual(lines, ['LODGE_BROKER_URL=http://10.0.2.2:4000', 'LODGE_BROKER_KEY=added-by-the-host']);
    },
  },
  interactive: { program: '/opt/hermes/bin/python -q', line: '"plum" * 2' },
  hasInspector: false,
  hasMembers: false,
  hasDashboard: true,
  bootsQuickly: true,
};
