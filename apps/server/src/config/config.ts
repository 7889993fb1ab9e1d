/**
 * Lodge's configuration: environment variables, read once at start. `settings` is the whole of it; the type `Config`,
 * the checks and docs/reference/configuration.md all come from that table, so they cannot disagree.
 *
 * An empty variable counts as unset. A wrong value, or a LODGE_ variable that does not exist, is an error that names the
 * variable: a typo must not be dropped in silence.
 */
import { join } from 'node:path';
import { file, integer, matching, optional, origin, required } from '@lodge/ports/settings';
import type { Setting } from '@lodge/ports/settings';
import { databaseUrl, decimal, directory, dnsName, host, jsonArray, networkRange, oneOf, resolver } from './values.ts';
import { backupSettings } from './backup.ts';
import { diskSettings } from './disk.ts';
import { memorySettings } from './memory.ts';
import { egressSettings } from './egress.ts';
import { limitSettings } from './limits.ts';
import { llmSettings } from './llm.ts';
import { priceSettings } from './prices.ts';
import { spendSettings } from './spend.ts';
import { skillSettings } from './skills.ts';
import { webhookSettings } from './webhooks.ts';
import { disagreements } from './disagreements.ts';
import { nearest } from './nearest.ts';
import { packageSettings } from './packages.ts';
import { platformSettings } from './platforms.ts';
import { runtimePrefixes } from './prefixes.ts';
import { leavesOf, valuesOf } from './tree.ts';
import type { Tree, Values } from './tree.ts';

/** One address quadruple, so one VM, for each /30 of the network range: the most VMs that a /16 can hold. */
export const maxVms = 2 ** 14;

const userName = matching(/^[a-z_][a-z0-9_-]{0,30}$/, 'a user name of lower-case letters, digits, _ and -');

export const settings = {
  host: required(
    'LODGE_HOST',
    'IP address',
    '127.0.0.1',
    'Address the API listens on; `0.0.0.0` is every IPv4 address of the machine.',
    host,
  ),
  port: required(
    'LODGE_PORT',
    'port, 0..65535',
    '8080',
    'Port the API listens on; 0 takes any free one.',
    integer(0, 65535),
  ),
  publicUrl: optional(
    'LODGE_PUBLIC_URL',
    'http(s) URL without a path',
    '`http://<host>:<port>`',
    'Where clients reach the API, when that is not where it listens (a proxy, a name).',
    origin,
  ),
  dataDir: required(
    'LODGE_DATA_DIR',
    'absolute path',
    '/var/lib/lodge',
    "Folder of the data that must not be lost: database, agents' disks, master key.",
    directory,
  ),
  cacheDir: required(
    'LODGE_CACHE_DIR',
    'absolute path',
    '/var/cache/lodge',
    'Images and templates, shared by every Lodge of this machine; disks of existing agents lie over them.',
    directory,
  ),
  instance: required(
    'LODGE_INSTANCE',
    '1..8 of a-z and 0-9, a letter first',
    'lodge',
    'Name of this Lodge on its machine; network namespaces, interfaces and tables carry it.',
    matching(/^[a-z][a-z0-9]{0,7}$/, '1 to 8 lower-case letters and digits, beginning with a letter'),
  ),
  networkRange: required(
    'LODGE_NETWORK_RANGE',
    'IPv4 range, /16../24',
    '10.201.0.0/16',
    'Addresses of the links between the host and its VMs, four a VM; it must not overlap a network the host knows.',
    networkRange,
  ),
  brokerPort: required(
    'LODGE_BROKER_PORT',
    'port, 1..65535',
    '4000',
    'Port the LLM broker listens on, at an address that only VMs reach.',
    integer(1, 65535),
  ),
  dns: required(
    'LODGE_DNS',
    '`auto`, `none` or an IPv4 address',
    'auto',
    'Resolver the guests use; `auto` is the first of /etc/resolv.conf that they can reach, `none` leaves them without names.',
    resolver,
  ),
  accelerator: required(
    'LODGE_ACCELERATOR',
    '`auto`, `kvm` or `tcg`',
    'auto',
    'How VMs run: `auto` takes KVM when a guest really boots with it, else emulation.',
    oneOf('auto', 'kvm', 'tcg'),
  ),
  defaultModel: required(
    'LODGE_DEFAULT_MODEL',
    '`<provider>/<model>`',
    'anthropic/claude-sonnet-5',
    'Model of an agent whose create names none.',
    matching(/^[\w.-]+\/\S{1,200}$/, '<provider>/<model_name>'),
  ),
  providers: {
    ...required(
      'LODGE_PROVIDERS',
      'JSON array',
      '[]',
      'LLM providers beside the built-in ones, such as Ollama or vLLM (docs/guides/operating.md shows one).',
      jsonArray,
    ),
    secret: true,
  },
  ...egressSettings,
  ...packageSettings,
  ...llmSettings,
  masterKeyFile: optional(
    'LODGE_MASTER_KEY_FILE',
    'absolute path',
    '`<LODGE_DATA_DIR>/master.key`',
    "Key that agents' secrets are encrypted with; made at the first start, mode 0600. Lose it and every stored secret is lost.",
    file,
  ),
  masterKey: {
    ...optional(
      'LODGE_MASTER_KEY',
      '32 bytes in base64',
      'the key is in the file',
      'The master key itself, instead of the file. The command is safer: other processes of the same user can read this.',
      matching(/^\s*[\w+/-]{43}=?\s*$/, '32 bytes in base64, as `openssl rand -base64 32` makes them'),
    ),
    secret: true,
  },
  masterKeyCommand: {
    ...optional(
      'LODGE_MASTER_KEY_COMMAND',
      'shell command',
      'the key is in the file',
      'Writes the master key in base64 to its standard output, within 30 s: for a key that a secrets manager keeps.',
      matching(/\S/, 'a shell command'),
    ),
    secret: true,
  },
  registration: required(
    'LODGE_REGISTRATION',
    '`closed` or `open`',
    'closed',
    'The people who may make an account: `closed` admits the invited, `open` anyone who reaches the account area.',
    oneOf('closed', 'open'),
  ),
  createWaitMs: required(
    'LODGE_CREATE_WAIT_MS',
    'milliseconds, 0..600000',
    '60000',
    'How long a create waits for the agent to run before it answers 202.',
    integer(0, 600_000),
  ),
  lifecycleWaitMs: required(
    'LODGE_LIFECYCLE_WAIT_MS',
    'milliseconds, 0..600000',
    '60000',
    'How long start, stop, restart, pause and resume wait for their goal before they answer 202, and a chat for its agent to wake.',
    integer(0, 600_000),
  ),
  provisionTimeoutMs: required(
    'LODGE_PROVISION_TIMEOUT_MS',
    'milliseconds, 10000..7200000',
    '1200000',
    'How long an agent may stay in provisioning before it goes to error, and how long its template may take to make; each times the host’s pace (ADR 43).',
    integer(10_000, 7_200_000),
  ),
  chatTimeoutMs: required(
    'LODGE_CHAT_TIMEOUT_MS',
    'milliseconds, 1000..86400000',
    '1800000',
    'How long one chat turn may take.',
    integer(1000, 86_400_000),
  ),
  ...memorySettings,
  diskRate: required(
    'LODGE_DISK_RATE',
    'number, 0..1000',
    '1',
    'Factor on what agents of each size may read and write (docs/guides/operating.md#disk-rates); 0 sets no bound.',
    decimal(0, 1000),
  ),
  ...diskSettings,
  platforms: platformSettings,
  ...webhookSettings,
  ...skillSettings,
  ...backupSettings,
  ...priceSettings,
  ...limitSettings,
  ...spendSettings,
  logMaxEntries: required(
    'LODGE_LOG_MAX_ENTRIES',
    'number, 1000..10000000',
    '100000',
    "Most entries that are kept of one agent's log; the oldest go first.",
    integer(1000, 10_000_000),
  ),
  logMaxMib: required(
    'LODGE_LOG_MAX_MIB',
    'MiB, 1..1048576',
    '64',
    "Most text that is kept of one agent's log; the oldest entries go first. Indexes take about as much again.",
    integer(1, 1_048_576),
  ),
  logMaxAgeDays: required(
    'LODGE_LOG_MAX_AGE_DAYS',
    'days, 1..3650',
    '30',
    "How long entries of agents' logs are kept.",
    integer(1, 3650),
  ),
  eventMax: required(
    'LODGE_EVENT_MAX',
    'number, 1000..10000000',
    '100000',
    "Most events that are kept of one account for people, and as many for API keys, for the operator, and for Lodge itself. Within Lodge's own, one agent has a tenth. The oldest go first.",
    integer(1000, 10_000_000),
  ),
  eventMaxDays: required(
    'LODGE_EVENT_MAX_DAYS',
    'days, 1..3650',
    '400',
    'How long events of accounts, and so their audit logs, are kept.',
    integer(1, 3650),
  ),
  metricsPort: optional(
    'LODGE_METRICS_PORT',
    'port, 1..65535',
    'no metrics',
    "Port that serves `GET /metrics` in Prometheus's form; it needs no key, so only Prometheus should reach it.",
    integer(1, 65535),
  ),
  metricsHost: required('LODGE_METRICS_HOST', 'IP address', '127.0.0.1', 'Address that metrics are served on.', host),
  agentsDomain: required(
    'LODGE_AGENTS_DOMAIN',
    'DNS name',
    'agents.localhost',
    'Domain under which every agent has its own address.',
    dnsName,
  ),
  prefixes: runtimePrefixes,
  logLevel: required(
    'LODGE_LOG_LEVEL',
    '`trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`',
    'info',
    'Least severe log lines that are written.',
    oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
  ),
  // systemd leaves 1879048192..2147483646 to nobody, so no container or dynamic user has these ids.
  vmUidBase: required(
    'LODGE_VM_UID_BASE',
    `user id, 1000..${2 ** 31 - 1 - maxVms}`,
    '2000000000',
    `First of the ${maxVms} user ids that VMs run as, one each; nobody else may own them. The one behind them looks up names for guests.`,
    integer(1000, 2 ** 31 - 1 - maxVms),
  ),
  systemUser: required(
    'LODGE_SYSTEM_USER',
    'user name',
    'lodge',
    'Unprivileged user that the embedded database runs as; set-up makes it.',
    userName,
  ),
  controlUser: required(
    'LODGE_CONTROL_USER',
    'user name',
    'lodge-control',
    'Unprivileged user that the API, the broker and the engine run as, and nothing else; set-up makes it.',
    userName,
  ),
  relayUser: required(
    'LODGE_RELAY_USER',
    'user name',
    'lodge-relay',
    'Unprivileged user that the processes which hold connections of channels run as, and nothing else; set-up makes it.',
    userName,
  ),
  databaseUrl: {
    ...optional(
      'DATABASE_URL',
      'postgres URL',
      "a Postgres of Lodge's own, in the data folder",
      'A Postgres server to use instead of the embedded one.',
      databaseUrl,
    ),
    secret: true,
  },
} as const satisfies Tree;

/** Every setting, in order. */
export const allSettings: readonly Setting<unknown>[] = leavesOf(settings);

/** Variables that may hold a credential. */
export const secretVariables: readonly string[] = allSettings.filter(({ secret }) => secret).map(({ name }) => name);

type Parsed = Values<typeof settings>;

/** The result of `readConfig`; one field a variable, as `settings` describes it. */
export type Config = Omit<Parsed, 'masterKeyFile'> & { readonly masterKeyFile: string };

/** Configuration that cannot be used. `problems` has one sentence for each variable at fault, which it names. */
export class ConfigError extends Error {
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** Reads and checks the configuration. Throws `ConfigError` with all errors, not only the first. */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const problems = unknownVariables(env);
  const parsed = valuesOf(settings, (setting) => {
    const text = env[setting.name] || setting.fallback;
    try {
      return text === null ? null : setting.parse(text);
    } catch (error) {
      const got = setting.secret ? '' : `, not ${JSON.stringify(text)}`;
      problems.push(`${setting.name} must be ${(error as Error).message}${got}`);
    }
  });
  if (problems.length > 0) throw new ConfigError(problems);
  const clashes = disagreements(parsed);
  if (clashes.length > 0) throw new ConfigError(clashes);
  return { ...parsed, masterKeyFile: parsed.masterKeyFile ?? join(parsed.dataDir, 'master.key') };
}

function unknownVariables(env: Readonly<Record<string, string | undefined>>): string[] {
  const known = allSettings.map(({ name }) => name);
  return Object.keys(env)
    .filter((name) => name.startsWith('LODGE_') && known.every((other) => other !== name))
    .map(
      (name) =>
        `${name} is not a setting; the nearest one is ${nearest(name, known)} (docs/reference/configuration.md has all)`,
    );
}
