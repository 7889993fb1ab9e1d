import { Refusal, abilitiesOf, agentModel, bareModelFault, parseProviderModel, servesManyHouses } from '@lodge/domain';
import type { RuntimeKind } from '@lodge/domain';
import type { Provider } from '@lodge/ports';
import type { AgentsDeps } from './deps.ts';

type Offer = Pick<AgentsDeps, 'providers' | 'defaultModel'>;

/** The model an agent is to have, null: the deployment's choice. Refuses what its runtime, with these providers' keys, cannot have. */
export function chosenModel(
  { providers, defaultModel }: Offer,
  kind: RuntimeKind,
  wanted: string | null,
  keyProviders: readonly string[],
): string {
  const usual = parseProviderModel(defaultModel);
  if (!abilitiesOf(kind).hasBareModels) return checkPrefixed(wanted ?? defaultModel, providers);
  if (wanted === null) return usual?.name ?? defaultModel;
  const own = agentModel({ runtimeKind: kind, model: wanted, keyProviders }, usual?.provider ?? null)?.provider;
  const provider = providers.find(({ id }) => id === own);
  const fault = bareModelFault(wanted, prefixesRefused(provider, providers));
  if (fault !== null) throw new Refusal('invalid_request', fault);
  return wanted;
}

/** A provider that serves models of many houses may name them `<house>/<model>`; what an operator added may be one. */
function prefixesRefused(own: Provider | undefined, all: readonly Provider[]): string[] {
  if (own?.operatorAdded) return [own.id];
  return own && servesManyHouses(own.id) ? [] : all.map(({ id }) => id);
}

/**
 * The models that an agent may call beside its own, each once. A call names its model with the provider, whatever the
 * runtime, and so does this. Those of `present` may be of a provider that the operator took away since.
 */
export function checkedModels(
  models: readonly string[] | null,
  providers: readonly Provider[],
  present: readonly string[] = [],
): readonly string[] | null {
  for (const [index, model] of models?.entries() ?? []) {
    if (!present.includes(model)) checkPrefixed(model, providers, `models[${index}]`);
  }
  return models && [...new Set(models)];
}

function checkPrefixed(model: string, providers: readonly Provider[], field = 'model'): string {
  const parsed = parseProviderModel(model);
  if (!parsed) throw new Refusal('invalid_request', `${field} must have the form <provider>/<model_name>.`);
  if (!providers.some(({ id }) => id === parsed.provider)) {
    throw new Refusal('invalid_request', `${field} names an unknown provider; known are: ${idsOf(providers)}.`);
  }
  return model;
}

export const idsOf = (providers: readonly Pick<Provider, 'id'>[]): string => providers.map(({ id }) => id).join(', ');
