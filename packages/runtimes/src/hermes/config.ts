/**
 * The files every Hermes guest of a template starts with. They name no provider, no model and no key of anybody: model calls
 * go to the broker's fixed address, which knows the agent by the address they come from and does the rest. What differs
 * between agents is chosen by the host with each request (`routeFor`), so a clone needs nothing rewritten.
 *
 * Keys and their effects were tried on the version below; docs/adr/0025 has what they are for.
 */
import { runtimeAbilities } from '@lodge/domain';
import { guestBrokerPort, hostAddress } from '@lodge/guest';
import type { AgentSettings, LlmApi } from '@lodge/ports';
import { hostToolTimeoutMs, hostTools, hostToolsPath } from '../host-tools.ts';

export const hermesVersion = '0.19.0';
/** Rises with every change to what these files say: guests of another version are other guests. */
export const configVersion = 3;

export const homeFolder = '/home/agent';
export const workspacePath = '/workspace';
const configPath = `${workspacePath}/config.yaml`;
const envPath = `${workspacePath}/.env`;
/** Written by the template; see `hermesConfig` and `hermesEnv`. */
export const configFiles = [configPath, envPath] as const;
export const gatewayPort = 8642;
export const dashboardPort = runtimeAbilities.runtime_b.dashboardPort;

/** Of the gateway and the dashboard, for their start scripts in the image; the gateway starts once its file is there. */
export const hostFolder = `${homeFolder}/.lodge`;
export const gatewaySettingsPath = `${hostFolder}/gateway.env`;
export const dashboardSettingsPath = `${hostFolder}/dashboard.env`;

/** Hermes's name of each wire, and where the broker speaks it. */
const wires: Readonly<Partial<Record<LlmApi, { readonly transport: string; readonly path: string }>>> = {
  'openai-completions': { transport: 'chat_completions', path: '/openai/v1' },
  'openai-responses': { transport: 'codex_responses', path: '/openai/v1' },
  'anthropic-messages': { transport: 'anthropic_messages', path: '/anthropic' },
};
export const wireApis = Object.keys(wires) as LlmApi[];

/**
 * Models a guest knows, by the tokens Hermes plans with: it compacts a conversation at half of them. All mean the agent's own
 * model to the broker. The first is for a model whose window is unknown or not smaller. Hermes takes no model below 64,000.
 */
const models = [
  { id: 'default', contextWindow: 128_000 },
  { id: 'default-64k', contextWindow: 64_000 },
] as const;

const routeName = (api: LlmApi, model: string): string => `${api}/${model}`;

/** What the gateway takes as `model` in a request, and what it does with it. */
const routes = wireApis.flatMap((api) =>
  models.map(({ id }) => [routeName(api, id), { model: id, provider: `custom:${api}` }] as const),
);

/** A provider that speaks none of Hermes's wires is asked by OpenAI's, which the broker may know of it. */
export function routeFor({ api, contextWindow }: Pick<AgentSettings, 'api' | 'contextWindow'>): string {
  const fitting = models.find((model) => contextWindow === null || model.contextWindow <= contextWindow);
  return routeName(wires[api] ? api : 'openai-completions', (fitting ?? models.at(-1)!).id);
}

/** `config.yaml`, as JSON within YAML: every value as it is meant. */
export function hermesConfig(): string {
  const sections = Object.entries({ ...brain(), ...gateway, ...tools, ...quiet });
  return sections.map(([key, value]) => `${key}: ${JSON.stringify(value, null, 2)}\n`).join('');
}

/** `.env`: what `config.yaml` takes from it. The key is a marker; the broker puts the agent's own in its place. */
export const hermesEnv = [
  '# Model calls go through the host, which adds the key of the provider on the way out. No key is in this machine.',
  `LODGE_BROKER_URL=http://${hostAddress}:${guestBrokerPort}`,
  'LODGE_BROKER_KEY=added-by-the-host',
  '',
].join('\n');

function brain(): object {
  const contextWindows = Object.fromEntries(
    models.map(({ id, contextWindow }) => [id, { context_length: contextWindow }]),
  );
  return {
    _config_version: 33,
    // With `ollama_num_ctx` set, even to nothing, no server at a private address is asked whether it is an Ollama.
    model: {
      provider: 'custom:openai-completions',
      default: models[0].id,
      max_tokens: 8_192,
      ollama_num_ctx: 0,
      // Of a model that it does not know Hermes describes pictures to itself, with calls to a second model.
      supports_vision: true,
    },
    providers: Object.fromEntries(
      Object.entries(wires).map(([api, { transport, path }]) => [
        api,
        { base_url: `\${LODGE_BROKER_URL}${path}`, transport, key_env: 'LODGE_BROKER_KEY', models: contextWindows },
      ]),
    ),
  };
}

const gateway = {
  platforms: {
    api_server: {
      enabled: true,
      extra: { host: '0.0.0.0', port: gatewayPort, model_routes: Object.fromEntries(routes) },
    },
  },
  gateway: { write_sessions_json: false },
  context_file_max_chars: 100_000,
};

/**
 * What an agent can use whose only way to be spoken to is a chat over HTTP. Left out are tools that need what a guest has not
 * (browser, pictures, accounts), that end the turn and answer later where nobody listens (schedules, sub-agents), and the
 * search through other conversations, which may be those of other people.
 */
const tools = {
  platform_toolsets: { api_server: ['terminal', 'file', 'skills', 'todo', 'memory', 'code_execution'] },
  terminal: { cwd: workspacePath },
  approvals: { mode: 'off' },
  // Its only work is to look up the model's context window on the internet.
  tools: { tool_search: { enabled: 'off' } },
  // The agent's channels, schedules, peers and connections. What is offered is asked anew with each turn (the image's recipe), as
  // an agent's connections may change. A ping would keep the agent awake, and finds nothing: there is no session to lose.
  mcp_servers: {
    [hostTools]: {
      url: `\${LODGE_BROKER_URL}${hostToolsPath}`,
      timeout: hostToolTimeoutMs / 1_000,
      keepalive_interval: 1_000_000_000,
      sampling: { enabled: false },
      elicitation: { enabled: false },
    },
  },
};

/** Nothing runs, calls a model or calls home unless a request asks for it. */
const quiet = {
  memory: { nudge_interval: 0 },
  skills: { creation_nudge_interval: 0 },
  curator: { enabled: false },
  kanban: { dispatch_in_gateway: false, auto_decompose: false },
  auxiliary: { title_generation: { enabled: false } },
  security: { tirith_enabled: false, allow_lazy_installs: false },
  model_catalog: { enabled: false },
  lsp: { enabled: false },
  logging: { level: 'WARNING', max_size_mb: 2, backup_count: 1 },
};
