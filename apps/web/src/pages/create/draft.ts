/** The agent that is being described, and the request that makes it. */
import { abilitiesOf, defaultRuntimeKind } from '@lodge/contract/words';
import type { Agent, CreateAgent, Provider } from '@lodge/sdk';
import { checks } from '../../components/form/checks.ts';
import { labelsProblem, recordOf } from '../../components/form/pairs-field.tsx';
import type { ChannelName } from '../agent/channels/channel-names.ts';
import { channelsBody, channelsIn, refusedToken, tokenProblems } from './tokens.ts';
import type { TokenName, Tokens } from './tokens.ts';
import { firstModels } from '../../components/words/model-words.ts';
import type { Pair } from '../../components/form/pairs-field.tsx';

/** All that is typed but the key, which is kept nowhere. */
export interface Draft {
  readonly name: string;
  readonly description: string;
  readonly runtime: Agent['runtime_kind'];
  /** Empty while none was chosen. */
  readonly provider: string;
  readonly model: string;
  readonly size: Agent['size'];
  readonly instructions: string;
  readonly daily: string;
  readonly monthly: string;
  readonly action: 'block' | 'pause';
  readonly channels: readonly ChannelName[];
  readonly labels: readonly Pair[];
}

const empty: Draft = {
  name: '',
  description: '',
  runtime: defaultRuntimeKind,
  provider: '',
  model: '',
  size: 'medium',
  instructions: '',
  daily: '',
  monthly: '',
  action: 'block',
  channels: [],
  labels: [],
};

/** The draft of a tab that was reloaded. A field of another form, as of an older page, is left out. */
export function draftOf(kept: unknown): Draft {
  if (typeof kept !== 'object' || kept === null) return empty;
  const fields = Object.entries(kept).filter(
    ([name, value]) =>
      name in empty &&
      typeof value === typeof empty[name as keyof Draft] &&
      Array.isArray(value) === Array.isArray(empty[name as keyof Draft]),
  );
  const draft = { ...empty, ...(Object.fromEntries(fields) as Partial<Draft>) };
  return { ...draft, channels: channelsIn(draft.channels) };
}

/** Chosen in place of a provider: the model that this Lodge is set up with. No provider has this id. */
export const ofThisLodge = '-';

/** The draft with the provider that is offered first, where none was chosen yet: one of the operator's own before others. */
export function withProvider(draft: Draft, providers: readonly Provider[]): Draft {
  if (draft.provider !== '') return draft;
  const first =
    providers.find(({ built_in: isBuiltIn }) => !isBuiltIn) ?? providers.find(({ id }) => id === 'anthropic');
  return first === undefined ? draft : { ...draft, provider: first.id, model: firstModel(first) };
}

export const firstModel = ({ id, models }: Provider): string => models[0]?.id ?? firstModels[id] ?? '';

/** The key that a provider without keys is given, so that a bare model has a provider. */
const noKey = 'none';

/** The request. `key` and `tokens` are the secrets, or placeholders for them. */
export function bodyOf(draft: Draft, provider: Provider | undefined, key: string, tokens: Tokens): CreateAgent {
  const { daily, monthly } = draft;
  const model = draft.model.trim();
  const labels = recordOf(draft.labels);
  const secret = key.trim() || (provider?.needs_key === false && abilitiesOf(draft.runtime).hasBareModels ? noKey : '');
  return {
    name: draft.name.trim(),
    ...(draft.description.trim() !== '' && { description: draft.description.trim() }),
    runtime_kind: draft.runtime,
    ...(provider !== undefined &&
      model !== '' && { model: abilitiesOf(draft.runtime).hasBareModels ? model : `${provider.id}/${model}` }),
    ...(provider !== undefined && secret !== '' && { llm_keys: [{ provider: provider.id, api_key: secret }] }),
    ...(provider?.key_check === true && secret !== '' && { check_keys: true }),
    size: draft.size,
    ...(draft.instructions.trim() !== '' && { instructions: draft.instructions }),
    ...((daily.trim() !== '' || monthly.trim() !== '') && {
      spend_limit: { ...amount('daily_usd', daily), ...amount('monthly_usd', monthly), action: draft.action },
    }),
    ...channelsBody(draft.channels, tokens),
    ...(Object.keys(labels).length > 0 && { labels }),
  };
}

const amount = <Name extends string>(name: Name, usd: string): Partial<Record<Name, string>> =>
  usd.trim() === '' ? {} : ({ [name]: usd.trim() } as Record<Name, string>);

export type FieldName = 'name' | 'model' | 'key' | 'instructions' | 'daily' | 'monthly' | 'labels' | 'size' | TokenName;
export type Problems = Partial<Record<FieldName, string>>;

export const maxInstructionBytes = 32 * 1024;
export const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

/** Returns what is wrong before anything is sent. */
export function problemsOf(draft: Draft, provider: Provider | undefined, key: string, tokens: Tokens): Problems {
  const problems: { readonly [name in FieldName]?: string | undefined } = {
    ...tokenProblems(draft.channels, tokens),
    name: checks.name(draft.name),
    model: modelProblem(draft, provider),
    key: keyProblem(provider, key),
    instructions:
      bytesOf(draft.instructions) > maxInstructionBytes ? 'Up to 32 KB fit. Move long material into files.' : undefined,
    daily: checks.optionalUsd(draft.daily),
    monthly: checks.optionalUsd(draft.monthly),
    labels: labelsProblem(draft.labels),
  };
  return Object.fromEntries(Object.entries(problems).filter(([, problem]) => problem !== undefined));
}

function modelProblem({ model }: Draft, provider: Provider | undefined): string | undefined {
  if (provider === undefined) return undefined;
  const name = model.trim();
  if (name === '') return 'Choose a model.';
  return /^[\u0021-\u007e]{1,190}$/.test(name)
    ? undefined
    : 'The name of a model has no spaces and no special letters.';
}

function keyProblem(provider: Provider | undefined, key: string): string | undefined {
  if (provider === undefined) return undefined;
  const secret = key.trim();
  if (secret === '') return provider.needs_key ? `Enter a key of ${provider.name}.` : undefined;
  return /^[\u0021-\u007e]{1,2048}$/.test(secret) ? undefined : 'A key has no spaces and no special letters.';
}

const fields: readonly (readonly [prefix: string, FieldName])[] = [
  ['name', 'name'],
  ['model', 'model'],
  ['llm_keys', 'key'],
  ['instructions', 'instructions'],
  ['spend_limit.daily', 'daily'],
  ['spend_limit', 'monthly'],
  ['labels', 'labels'],
  ['size', 'size'],
];

/** Returns the field that a refusal is about, with the refusal's sentence; null when it is about none of them. */
export function refusedField(message: string): readonly [FieldName, string] | null {
  const token = refusedToken(message);
  if (token !== null) return token;
  const field = fields.find(([prefix]) => message.startsWith(prefix))?.[1];
  if (field === undefined) return null;
  // `llm_keys[0].api_key: OpenAI does not accept the key.`
  const at = message.indexOf(': ');
  return [field, field === 'key' && at > 0 && at < 60 ? message.slice(at + 2) : message];
}

/** The properties of each section of the form. */
export interface SectionProps {
  readonly draft: Draft;
  readonly set: (part: Partial<Draft>) => void;
  readonly problems: Problems;
}
