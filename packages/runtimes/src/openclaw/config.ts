/**
 * The configuration with which every OpenClaw guest of a template starts. It names no provider, model or key of any agent.
 * Model calls go to the broker's fixed address; the broker knows the agent by its source address and does the rest. The host
 * chooses an agent's differences with each request (`modelFor`), so a clone needs no rewriting.
 *
 * Keys and their effects were tried on the version below; OpenClaw renames keys between releases. The first start of a guest
 * skips OpenClaw's state migrations, a third of its work. It does so only while the file has no top-level key that had state
 * of its own in an older version (`tools`, `cron`, `memory`, `session`, `channels` …), nor a plugin's `config`. Tools are
 * therefore set on the agent's entry. With such a key it starts too, but an emulated guest on a busy host may exceed
 * OpenClaw's own five seconds for a part of the migrations, and then ends. The image takes `mcp` off OpenClaw's list of
 * these keys.
 */
import { maskModel, skillBounds } from '@lodge/domain';
import { browserPort, guestBrokerPort, hostAddress } from '@lodge/guest';
import type { AgentSettings, LlmApi } from '@lodge/ports';
import { hostToolTimeoutMs, hostTools, hostToolsPath } from '../host-tools.ts';
import { ownSkills, sharedSkills, skillSetPath } from '../skills/folders.ts';

export const openclawVersion = '2026.9.6';
/** Rises with every change of `openclawConfig`, because guests of another version are other guests. */
export const configVersion = 8;

export const homeFolder = '/home/agent';
/** OpenClaw's folder for all its state. */
const stateFolder = `${homeFolder}/.openclaw`;
/** The image starts the gateway once this file is there. */
export const configPath = `${stateFolder}/openclaw.json`;
const logPath = `${stateFolder}/logs/gateway.log`;
/** OpenClaw's folder with a folder for each of its agents. */
export const agentsFolder = `${stateFolder}/agents`;
export const gatewayPort = 18789;
/** OpenClaw's id of the agent that every guest has. */
export const mainAgent = 'main';

export const workspacePath = '/workspace';
/** Returns an agent's workspace. The main agent's is the guest's, and each member has a folder in it. */
export const workspaceOf = (agent: string): string =>
  agent === mainAgent ? workspacePath : `${workspacePath}/members/${agent}`;

interface GuestProvider {
  readonly name: string;
  /** The broker's path. */
  readonly path: string;
  readonly compat?: object;
}

const providers: Readonly<Record<LlmApi, GuestProvider>> = {
  // Without it OpenClaw reports zero usage of a streamed call for providers that report it only on request.
  'openai-completions': { name: 'lodge', path: '/openai/v1', compat: { supportsUsageInStreaming: true } },
  'openai-responses': { name: 'lodge-responses', path: '/openai/v1' },
  'anthropic-messages': { name: 'lodge-anthropic', path: '/anthropic' },
  'google-generative-ai': { name: 'lodge-google', path: '/google/v1beta' },
};
/** The APIs that guests of this version are configured for. */
export const guestApis = Object.keys(providers) as readonly LlmApi[];
export const guestProviders = Object.values(providers).map(({ name }) => name);

/**
 * Models in the guest's configuration, by the tokens that OpenClaw plans with. It compacts a conversation that comes near
 * them. The broker replaces each by the agent's own model. The first is for a model whose window is unknown or not smaller.
 * Below 16,000 tokens nothing is left beside system prompt and reserve.
 */
const models = [
  { id: 'default', contextWindow: 128_000 },
  { id: 'default-64k', contextWindow: 64_000 },
  { id: 'default-32k', contextWindow: 32_000 },
  { id: 'default-16k', contextWindow: 16_000 },
] as const;

/**
 * Returns `<provider>/<model>` of the guest's configuration for the header `x-openclaw-model`. Without `model` it means the
 * agent's own. A named model goes to the broker masked, because OpenClaw assumes a context window for names that it knows.
 */
export function modelFor({ api, contextWindow, model, pictures = false }: GuestModel): string {
  if (model) return `${providers[api].name}/${maskModel(model)}`;
  const fitting = models.find((candidate) => contextWindow === null || candidate.contextWindow <= contextWindow);
  const { id } = fitting ?? models.at(-1)!;
  return `${providers[api].name}/${pictures ? withPictures(id) : id}`;
}

interface GuestModel extends Pick<AgentSettings, 'api' | 'contextWindow'> {
  readonly model?: string | null;
  readonly pictures?: boolean;
}

/**
 * Each model exists a second time, for turns with pictures. For the plain one OpenClaw leaves out every picture of the
 * conversation and of files that it reads. No later turn fails because its model takes no pictures.
 */
const withPictures = (id: string): string => `${id}-pictures`;

/**
 * Returns the JSON of `configPath`. `token` opens the gateway and everything in the guest, so the file is readable by its
 * owner only (0600).
 */
export function openclawConfig(token: string): string {
  return `${JSON.stringify(
    { gateway: gateway(token), models: modelCatalogue(), agents, mcp, skills, plugins, browser, ...quiet },
    null,
    2,
  )}\n`;
}

function gateway(token: string): object {
  return {
    mode: 'local',
    port: gatewayPort,
    bind: 'lan',
    auth: { mode: 'token', token },
    controlUi: { enabled: false },
    terminal: { enabled: false },
    cliAgents: { enabled: false },
    http: { endpoints: { chatCompletions: { enabled: true }, responses: { enabled: true } } },
  };
}

/**
 * Returns providers without `apiKey`. OpenClaw disables a provider whose configured key was refused (401, 402, 403) for half
 * a minute to ten minutes. That would outlast the moment at which its owner sets a right key on the host.
 */
function modelCatalogue(): object {
  const entry = (api: LlmApi, { path, compat }: GuestProvider): object => ({
    baseUrl: `http://${hostAddress}:${guestBrokerPort}${path}`,
    api,
    models: models.flatMap(({ id, contextWindow }) => {
      const known = {
        contextWindow,
        cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
        ...(compat && { compat }),
      };
      const seeing = withPictures(id);
      return [
        { id, name: id, input: ['text'], ...known },
        { id: seeing, name: seeing, input: ['text', 'image'], ...known },
      ];
    }),
  });
  return {
    mode: 'replace',
    catalogRefresh: { enabled: false },
    providers: Object.fromEntries(guestApis.map((api) => [providers[api].name, entry(api, providers[api])])),
  };
}

/**
 * Tools of an agent that people reach only by chat over HTTP. Left out are tools that wait for a person at OpenClaw's own
 * UI, tools that end the turn and answer later (sub-agents, its own schedules), and tools that change the host's part
 * (configuration, plugins, updates). `bundle-mcp` stands for the tools of `mcp`.
 */
const tools = {
  // oxfmt-ignore
  allow: ['read', 'write', 'edit', 'apply_patch', 'ls', 'exec', 'process', 'web_fetch', 'browser', 'session_status', 'bundle-mcp'],
  exec: { host: 'gateway', mode: 'full', notifyOnExit: false },
  codeMode: false,
};

const agents = {
  // It allows several agents, and an agent owns only the entries that name it.
  ownership: 'explicit',
  defaults: {
    model: { primary: modelFor({ api: 'openai-completions', contextWindow: null }) },
    // An empty name turns off calls to a second, smaller model (titles, recaps).
    utilityModel: '',
    workspace: workspaceOf(mainAgent),
    skipBootstrap: true,
    heartbeat: { every: '0m', agentId: mainAgent },
    systemAgent: { agentId: mainAgent },
    // Room for all of `instructions`, and for the agent's own text.
    bootstrapMaxChars: 48_000,
    bootstrapTotalMaxChars: 96_000,
  },
  entries: { [mainAgent]: memberEntry(mainAgent) },
};

/** Returns OpenClaw's configuration of one of its agents. */
export function memberEntry(name: string): object {
  return { workspace: workspaceOf(name), tools };
}

/**
 * The tools of the host: for the agent's channels, schedules, peers and connections. Every conversation has its own client,
 * which is dropped ten minutes after its last turn. Without this time OpenClaw keeps all clients, up to a number at which
 * turns fail. The image's recipe asks for the list of tools anew with each turn, because an agent's connections may change.
 */
const mcp = {
  servers: {
    [hostTools]: {
      url: `http://${hostAddress}:${guestBrokerPort}${hostToolsPath}`,
      transport: 'streamable-http',
      requestTimeoutMs: hostToolTimeoutMs,
      supportsParallelToolCalls: true,
    },
  },
  sessionIdleTtlMs: 600_000,
};

/**
 * Skills that owners gave the agent, for all of its members and for one of them. The image's recipe puts the name of OpenClaw's
 * agent in the place of `{agent}`, and has OpenClaw look for another set before each turn.
 */
const skills = {
  allowBundled: ['diagram-maker', 'skill-creator', 'weather'],
  load: { extraDirs: [sharedSkills, ownSkills('{agent}')].map((folder) => `${skillSetPath}/${folder}`) },
  // OpenClaw's own bound is a little lower than Lodge's.
  limits: { maxSkillFileBytes: skillBounds.instructionBytes },
  workshop: { autonomous: { mode: 'off' } },
};

/** The plugin of the image that asks the host before commands, where the owner has rules for them. */
const asking = 'lodge-confirm';

/**
 * `memory-core` is on by default and makes a nightly job that calls the model. An entry for a plugin that is not OpenClaw's own
 * would cost the quick first start.
 */
const plugins = {
  allow: ['admin-http-rpc', 'browser', asking],
  load: { paths: [`/opt/lodge/plugins/${asking}`] },
  entries: { 'admin-http-rpc': { enabled: true }, browser: { enabled: true }, 'memory-core': { enabled: false } },
};

/**
 * The browser that the guest's daemon offers (`apps/guestd/src/browser`). By the image's recipe the tool is there while the owner
 * wants a browser. Which hosts it reaches is decided by the rules of egress.
 */
const browser = {
  enabled: true,
  attachOnly: true,
  defaultProfile: 'lodge',
  profiles: { lodge: { cdpUrl: `http://127.0.0.1:${browserPort}`, attachOnly: true } },
  ssrfPolicy: { dangerouslyAllowPrivateNetwork: true },
  tabCleanup: { enabled: false },
};

/** Nothing runs, calls a model or contacts its vendor unless a request asks for it. */
const quiet = {
  // Its own log file beside the daemon's copy of its output: up to six of these sizes.
  logging: { level: 'warn', file: logPath, maxFileBytes: 2_000_000, consoleLevel: 'info', consoleStyle: 'json' },
  discovery: { mdns: { mode: 'off' } },
  update: { checkOnStart: false },
  telemetry: { enabled: false },
};

/**
 * An agent's auth profiles, in OpenClaw's form, in its workspace. They contain no secret, because the broker adds the key on
 * the way out. OpenClaw itself has kept credentials in SQLite since 2026.9 and needs none here. At this file's old place
 * (`agents/<id>/agent/auth-profiles.json` of its state folder) OpenClaw would try to migrate it and fail to start.
 */
export const authProfilesName = 'auth-profiles.json';

const marker = 'added-by-the-host';

export const authProfiles = `${JSON.stringify(
  {
    version: 1,
    profiles: Object.fromEntries(
      guestProviders.map((provider) => [`${provider}:default`, { type: 'api_key', provider, key: marker }]),
    ),
  },
  null,
  2,
)}\n`;
