/**
 * The files with which every Hermes guest of a template starts. They name no provider, model or key of any agent. Model
 * calls go to the broker's fixed address; the broker knows the agent by its source address and does the rest. The host
 * chooses an agent's differences with each request (`routeFor`), so a clone needs no rewriting.
 *
 * Keys and their effects were tried on the version below. docs/templates.md explains them.
 */
import { runtimeAbilities } from '@lodge/domain';
import { browserPort, guestBrokerPort, hostAddress } from '@lodge/guest';
import type { AgentSettings, LlmApi } from '@lodge/ports';
import { hostToolTimeoutMs, hostTools, hostToolsPath } from '../host-tools.ts';
import { skillSetPath } from '../skills/folders.ts';

export const hermesVersion = '0.19.0';
/** Rises with every change of these files, because guests of another version are other guests. */
export const configVersion = 6;

export const homeFolder = '/home/agent';
export const workspacePath = '/workspace';
const configPath = `${workspacePath}/config.yaml`;
const envPath = `${workspacePath}/.env`;
/** The files that the template writes; see `hermesConfig` and `hermesEnv`. */
export const configFiles = [configPath, envPath] as const;
export const gatewayPort = 8642;
export const dashboardPort = runtimeAbilities.runtime_b.dashboardPort;

/**
 * Folder for the settings of the gateway and the dashboard, which their start scripts in the image read. The gateway starts
 * once its file is there.
 */
export const hostFolder = `${homeFolder}/.lodge`;
export const gatewaySettingsPath = `${hostFolder}/gateway.env`;
export const dashboardSettingsPath = `${hostFolder}/dashboard.env`;

/** Hermes's name of each wire, and the broker's path for it. */
const wires: Readonly<Partial<Record<LlmApi, { readonly transport: string; readonly path: string }>>> = {
  'openai-completions': { transport: 'chat_completions', path: '/openai/v1' },
  'openai-responses': { transport: 'codex_responses', path: '/openai/v1' },
  'anthropic-messages': { transport: 'anthropic_messages', path: '/anthropic' },
};
export const wireApis = Object.keys(wires) as LlmApi[];

/**
 * Models in the guest's configuration, by the tokens that Hermes plans with. It compacts a conversation at half of them. The
 * broker replaces each by the agent's own model. The first is for a model whose window is unknown or not smaller. Hermes
 * refuses models below 64,000.
 */
const models = [
  { id: 'default', contextWindow: 128_000 },
  { id: 'default-64k', contextWindow: 64_000 },
] as const;

const routeName = (api: LlmApi, model: string): string => `${api}/${model}`;

/** The values of `model` that the gateway accepts, and their routes. */
const routes = wireApis.flatMap((api) =>
  models.map(({ id }) => [routeName(api, id), { model: id, provider: `custom:${api}` }] as const),
);

/**
 * Returns the route of an agent's provider. A provider that speaks none of Hermes's wires is called by OpenAI's, which the
 * broker may know for it.
 */
export function routeFor({ api, contextWindow }: Pick<AgentSettings, 'api' | 'contextWindow'>): string {
  const fitting = models.find((model) => contextWindow === null || model.contextWindow <= contextWindow);
  return routeName(wires[api] ? api : 'openai-completions', (fitting ?? models.at(-1)!).id);
}

/** Returns `config.yaml`, as JSON within YAML, so every value has its intended type. */
export function hermesConfig(): string {
  const sections = Object.entries({ ...brain(), ...gateway, ...tools, ...quiet });
  return sections.map(([key, value]) => `${key}: ${JSON.stringify(value, null, 2)}\n`).join('');
}

/** The `.env` file, whose values `config.yaml` uses. The key is a marker, which the broker replaces by the agent's own. */
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
    // With `ollama_num_ctx` set, even to zero, Hermes asks no private server whether it is an Ollama.
    model: {
      provider: 'custom:openai-completions',
      default: models[0].id,
      max_tokens: 8_192,
      ollama_num_ctx: 0,
      // Otherwise Hermes describes pictures to an unknown model, with calls to a second model.
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
 * Tools of an agent that people reach only by chat over HTTP. Left out are tools that need something a guest lacks (pictures,
 * accounts), and tools that end the turn and answer later (schedules, sub-agents). The search through other
 * conversations is left out too, because these may be other people's.
 */
const tools = {
  platform_toolsets: { api_server: ['terminal', 'file', 'skills', 'todo', 'memory', 'code_execution', 'browser'] },
  terminal: { cwd: workspacePath },
  // The browser that the guest's daemon offers (`apps/guestd/src/browser`). By the image's recipe its tools are there while the
  // owner wants a browser. Which hosts it reaches is decided by the rules of egress. An emulated page takes long.
  browser: {
    cdp_url: `http://127.0.0.1:${browserPort}`,
    cloud_provider: 'local',
    allow_private_urls: true,
    command_timeout: 120,
  },
  approvals: { mode: 'off' },
  // The image's plugin asks the host before commands, where the owner has rules for them.
  plugins: { enabled: ['lodge-confirm'] },
  // Its only work is to look up the model's context window on the internet.
  tools: { tool_search: { enabled: 'off' } },
  // Tools for the agent's channels, schedules, peers and connections. The image's recipe asks for their list anew with each
  // turn,
  // because an agent's connections may change. A ping would keep the agent awake for nothing: there is no session to
  // lose.
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

/** Nothing runs, calls a model or contacts its vendor unless a request asks for it. */
const quiet = {
  memory: { nudge_interval: 0 },
  skills: { creation_nudge_interval: 0, external_dirs: [skillSetPath] },
  curator: { enabled: false },
  kanban: { dispatch_in_gateway: false, auto_decompose: false },
  auxiliary: { title_generation: { enabled: false } },
  security: { tirith_enabled: false, allow_lazy_installs: false },
  model_catalog: { enabled: false },
  lsp: { enabled: false },
  logging: { level: 'WARNING', max_size_mb: 2, backup_count: 1 },
};
