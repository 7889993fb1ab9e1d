import {
  Refusal,
  abilitiesOf,
  agentModel,
  bareModelFault,
  namedModels,
  parseProviderModel,
  servesManyHouses,
} from '@lodge/domain';
import type { ProviderModel, RuntimeKind } from '@lodge/domain';
import type { Provider } from '@lodge/ports';
import type { AgentsDeps } from './deps.ts';

type Offer = Pick<AgentsDeps, 'providers' | 'defaultModel'>;

/**
 * Returns the model that an agent is to have; null means the deployment's choice. Refuses a model that its runtime, with
 * these providers' keys, cannot have.
 */
export function chosenModel(
  { providers, defaultModel }: Offer,
  kind: RuntimeKind,
  wanted: string | null,
  keyProviders: readonly string[],
): string {
  const usual = parseProviderModel(defaultModel);
  if (!abilitiesOf(kind).hasBareModels) return checkPrefixed(wanted ?? defaultModel, providers);
  const model = wanted ?? usual?.name ?? defaultModel;
  const own = agentModel({ runtimeKind: kind, model, keyProviders }, usual?.provider ?? null);
  const provider = providers.find(({ id }) => id === own?.provider);
  const fault = wanted === null ? null : bareModelFault(kind, wanted, prefixesRefused(provider, providers));
  if (fault !== null) throw new Refusal('invalid_request', fault);
  if (own) refuseUnoffered(own, provider, { field: 'model', prefix: '' });
  return model;
}

/** The keys of another provider send a bare model name to that provider, so it must have the model. */
export function checkModelStays(
  { providers, defaultModel }: Offer,
  agent: { readonly runtimeKind: RuntimeKind; readonly model: string },
  keyProviders: { readonly before: readonly string[]; readonly after: readonly string[] },
): void {
  const usual = parseProviderModel(defaultModel)?.provider ?? null;
  const ownWith = (keys: readonly string[]) => agentModel({ ...agent, keyProviders: keys }, usual);
  const [before, after] = [ownWith(keyProviders.before), ownWith(keyProviders.after)];
  if (after === null || after.provider === before?.provider) return;
  const provider = providers.find(({ id }) => id === after.provider);
  refuseUnoffered(after, provider, { field: 'model', prefix: '' });
}

/**
 * Checks the default model. Without this, a deployment would refuse every agent that names no model. `field` is the
 * operator's name for it.
 */
export function checkDefaultModel({ providers, defaultModel }: Offer, field: string): void {
  const usual = parseProviderModel(defaultModel);
  const provider = providers.find(({ id }) => id === usual?.provider);
  if (usual) refuseUnoffered(usual, provider, { field, prefix: `${usual.provider}/` });
}

/**
 * A provider that serves models of many makers may name them `<maker>/<model>`; a provider that an operator added may be
 * one.
 */
function prefixesRefused(own: Provider | undefined, all: readonly Provider[]): string[] {
  if (own?.operatorAdded) return [own.id];
  return own && servesManyHouses(own.id) ? [] : all.map(({ id }) => id);
}

/**
 * Returns the models that an agent may call beside its own, each once. A call names its model with the provider, whatever
 * the runtime, and so does this list. The operator may have removed the provider of one in `present`.
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
  const provider = providers.find(({ id }) => id === parsed.provider);
  if (!provider) {
    throw new Refusal('invalid_request', `${field} names an unknown provider; known are: ${idsOf(providers)}.`);
  }
  refuseUnoffered(parsed, provider, { field, prefix: `${provider.id}/` });
  return model;
}

/** The operator's list of offered models binds every call, so an agent with another model could make none. */
function refuseUnoffered(
  { name }: ProviderModel,
  provider: Provider | undefined,
  { field, prefix }: { readonly field: string; readonly prefix: string },
): void {
  if (!provider?.onlyModels || provider.models.some((model) => model.name === name)) return;
  const offered = namedModels(provider.models.map((model) => prefix + model.name));
  throw new Refusal(
    'invalid_request',
    `${field} ${prefix}${name} is not allowed: provider ${provider.id} offers ${offered}.`,
  );
}

export const idsOf = (providers: readonly Pick<Provider, 'id'>[]): string => providers.map(({ id }) => id).join(', ');
