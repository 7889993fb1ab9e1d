/** The create in other clients' words, with the fields as they are filled in and a placeholder in place of the secret. */
import { abilitiesOf, defaultRuntimeKind, runtimeKindAliases } from '@lodge/contract/words';
import type { CreateAgent } from '@lodge/sdk';
import type { ChannelName } from '../agent/channels/channel-names.ts';
import { platforms } from '../agent/channels/platforms.tsx';
import { tokenName } from './tokens.ts';
import type { Tokens } from './tokens.ts';

export interface Sample {
  readonly id: 'cli' | 'curl' | 'python' | 'javascript';
  readonly label: string;
  readonly code: string;
}

/** The name of the variable that holds a provider's key. No such name begins with a digit. */
export const keyVariable = (provider: string): string =>
  `${provider.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}_API_KEY`.replace(/^(?=\d)/, 'KEY_');

/** In a body that samples are made of, the secret stands as this. It is no character that a key can have. */
export const secretOf = (provider: string): string => placeholder(keyVariable(provider));
const placeholder = (variable: string): string => `\u{E000}${variable}`;
const isSecret = (value: string): boolean => value.startsWith('\u{E000}');
const variableOf = (value: string): string => value.slice(1);

/** The same for the tokens of channels. */
export const tokenSecrets = (channels: readonly ChannelName[]): Tokens =>
  Object.fromEntries(
    channels.flatMap((channel) =>
      platforms[channel].secrets.map(({ name }) => [
        tokenName(channel, name),
        placeholder(`${channel}_${name.replace('Token', '_token')}`.toUpperCase()),
      ]),
    ),
  );

/** `baseUrl` ends with /v1. */
export function samplesOf(body: CreateAgent, baseUrl: string): readonly Sample[] {
  const origin = baseUrl.replace(/\/v1\/?$/, '');
  return [
    { id: 'cli', label: 'CLI', code: cli(body) },
    { id: 'curl', label: 'curl', code: curl(body, `${origin}/v1`) },
    { id: 'python', label: 'Python', code: python(body, origin) },
    { id: 'javascript', label: 'JavaScript', code: javascript(body, origin) },
  ];
}

/** A word for a POSIX shell. */
const quoted = (text: string): string =>
  /^[\w./:@%+,=-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

function cli(body: CreateAgent): string {
  const { spend_limit: limit } = body;
  const runtime = abilitiesOf(runtimeKindAliases[body.runtime_kind ?? defaultRuntimeKind]!).name;
  const options: readonly (string | false | undefined)[] = [
    `--runtime ${runtime}`,
    body.model !== undefined && `--model ${quoted(body.model)}`,
    ...(body.llm_keys ?? []).map(({ provider, api_key: key }) =>
      isSecret(key)
        ? `--llm-key ${quoted(provider)}=env:${variableOf(key)}`
        : `--llm-key ${quoted(provider)}=- <<< ${quoted(key)}`,
    ),
    body.check_keys === true && '--check-keys',
    body.size !== undefined && `--size ${body.size}`,
    body.description != null && `--description ${quoted(body.description)}`,
    body.instructions != null && `--instructions ${quoted(body.instructions)}`,
    limit?.daily_usd != null && `--daily-usd ${limit.daily_usd}`,
    limit?.monthly_usd != null && `--monthly-usd ${limit.monthly_usd}`,
    limit?.action === 'pause' && '--on-limit pause',
    ...Object.entries(body.labels ?? {}).map(([name, value]) => `--label ${quoted(`${name}=${value}`)}`),
  ];
  const create = [`lodge agents create ${quoted(body.name)}`, ...options.filter((one) => typeof one === 'string')];
  return [create.join(' \\\n  '), ...channelCommands(body)].join('\n\n');
}

/** The command line has a command of its own for a channel. */
function channelCommands({ name, channels = {} }: CreateAgent): readonly string[] {
  return Object.entries(channels).map(([channel, given]) => {
    const tokens = Object.entries(given as Record<string, string>).map(
      ([token, value]) => `--${token.replace('Token', '-token')} env:${variableOf(value)}`,
    );
    return [`lodge channels set ${quoted(name)} ${channel}`, ...tokens].join(' \\\n  ');
  });
}

/** The secret is put in by the shell, so all else that it would read is quoted. */
function curl(body: CreateAgent, baseUrl: string): string {
  const json = JSON.stringify(body, null, 2)
    .replaceAll(/[\\$`]/g, String.raw`\$&`)
    .replaceAll(/\u{E000}(\w+)/gu, '$$$1');
  return [
    `curl ${quoted(`${baseUrl}/agents`)} \\`,
    '  -H "X-API-Key: $LODGE_API_KEY" \\',
    "  -H 'Content-Type: application/json' \\",
    '  --data-binary @- <<JSON',
    json,
    'JSON',
  ].join('\n');
}

function python(body: CreateAgent, origin: string): string {
  const entries = Object.entries(body).map(([name, value]) => `    ${name}=${pythonValue(value, '    ')},`);
  return [
    'import os',
    'from lodge_agents import Lodge',
    '',
    `lodge = Lodge(${JSON.stringify(origin)}, api_key=os.environ["LODGE_API_KEY"])`,
    'agent = lodge.agents.create(',
    ...entries,
    ')',
    'print(agent.id)',
  ].join('\n');
}

function pythonValue(value: unknown, indent: string): string {
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'string') return isSecret(value) ? `os.environ["${variableOf(value)}"]` : JSON.stringify(value);
  const inner = `${indent}    `;
  if (Array.isArray(value)) return `[${value.map((item) => pythonValue(item, indent)).join(', ')}]`;
  if (typeof value !== 'object') return JSON.stringify(value);
  const lines = Object.entries(value).map(
    ([name, item]) => `${inner}${JSON.stringify(name)}: ${pythonValue(item, inner)},`,
  );
  return `{\n${lines.join('\n')}\n${indent}}`;
}

function javascript(body: CreateAgent, origin: string): string {
  const entries = Object.entries(body).map(([name, value]) => `  ${name}: ${scriptValue(value, '  ')},`);
  return [
    "import { Lodge } from '@lodge/sdk';",
    '',
    `const lodge = new Lodge({ baseUrl: ${JSON.stringify(origin)}, apiKey: process.env.LODGE_API_KEY });`,
    'const agent = await lodge.agents.create({',
    ...entries,
    '});',
    'console.log(agent.id);',
  ].join('\n');
}

function scriptValue(value: unknown, indent: string): string {
  if (typeof value === 'string') return isSecret(value) ? `process.env.${variableOf(value)}` : JSON.stringify(value);
  const inner = `${indent}  `;
  if (Array.isArray(value)) return `[${value.map((item) => scriptValue(item, indent)).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const lines = Object.entries(value).map(
    ([name, item]) => `${inner}${scriptName(name)}: ${scriptValue(item, inner)},`,
  );
  return `{\n${lines.join('\n')}\n${indent}}`;
}

const scriptName = (name: string): string => (/^[a-z_$][\w$]*$/i.test(name) ? name : JSON.stringify(name));
