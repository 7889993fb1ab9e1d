/**
 * Prices of models: the operator's, by setting or in a provider's entry, and else the installed list of
 * @pydantic/genai-prices. Nothing is fetched: a price changes with a release or by the operator, and each call's row names
 * the list it was priced by.
 */
import type { ModelPrices, PriceBook, Provider, TokenUsage } from '@lodge/ports';
import { calcPrice, findProvider } from '@pydantic/genai-prices';
import { dearestOf, listedPrices } from './dearest.ts';
import { addDecimals, decimalOf } from './decimal.ts';

/** Prices of the operator's own. */
export const operatorVersion = 'operator';
/**
 * The version of an assumed price: the model's price is unknown, a limit holds, and the operator wants it priced all the
 * same.
 */
export const assumedVersion = 'dearest-known';
/** The version of the package that is pinned. */
export const listVersion = 'genai-prices/0.1.8';

/** Where the list names a provider otherwise. */
const listNames: Readonly<Record<string, string>> = {
  xai: 'x-ai',
  moonshot: 'moonshotai',
  'azure-openai': 'azure',
  bedrock: 'aws',
};

/** The assumed cost of a call to a model without a known price. */
export interface DearestPrices {
  /**
   * By the dearest price that is known of the provider's models, and where none is, of all: the next model of a provider is
   * seldom dearer than its dearest, and that of all providers is many times that of most. Null where no price is known.
   */
  dearest(provider: string, usage: TokenUsage): { readonly costUsd: string; readonly version: string } | null;
}

/** `overrides` are by `<provider>/<model>`. */
export function createPriceBook(
  providers: readonly Provider[],
  overrides: ReadonlyMap<string, ModelPrices>,
): PriceBook & DearestPrices {
  const own = new Map(
    providers.flatMap(({ id, models }) =>
      models.flatMap(({ name, prices }) => (prices ? [[`${id}/${name}`, prices]] : [])),
    ),
  );
  for (const [name, prices] of overrides) own.set(name, prices);
  const listed = new Map(providers.flatMap((provider) => listNameOf(provider) ?? []));
  const knownOf = (provider: string): ModelPrices[] => {
    const set = [...own].flatMap(([name, prices]) => (name.startsWith(`${provider}/`) ? [prices] : []));
    const name = listed.get(provider);
    return name === undefined ? set : [...set, ...listedPrices(name)];
  };
  const assumed = new Map<string, ModelPrices | null>();
  const assumedOf = (provider: string): ModelPrices | null => {
    if (assumed.has(provider)) return assumed.get(provider)!;
    const prices = dearestOf(knownOf(provider)) ?? dearestOf(providers.flatMap(({ id }) => knownOf(id)));
    assumed.set(provider, prices);
    return prices;
  };
  return {
    dearest(provider, usage) {
      const prices = assumedOf(provider);
      return prices && { costUsd: costByPrices(prices, usage), version: assumedVersion };
    },
    price(provider, model, usage) {
      if (usage.inputTokens === null && usage.outputTokens === null) return null;
      const prices = own.get(`${provider}/${model}`);
      if (prices) return { costUsd: costByPrices(prices, usage), version: operatorVersion };
      const name = listed.get(provider);
      const costUsd = name === undefined ? null : costByList(name, model, usage);
      return costUsd === null ? null : { costUsd, version: listVersion };
    },
  };
}

/** An operator's provider is not the one whose name it looks like. */
function listNameOf({ id, operatorAdded }: Provider): [[string, string]] | null {
  if (operatorAdded) return null;
  const name = listNames[id] ?? id;
  // The list finds providers by parts of their names too.
  return findProvider({ providerId: name })?.id === name ? [[id, name]] : null;
}

function costByList(provider: string, model: string, usage: TokenUsage): string | null {
  const [input, output] = [usage.inputTokens ?? 0, usage.outputTokens ?? 0];
  const [read, write] = [usage.cacheReadTokens ?? 0, usage.cacheWriteTokens ?? 0];
  const found = calcPrice(
    {
      // Here what is cached is part of the input, and what is kept longer part of what is written.
      input_tokens: input + read + write,
      cache_read_tokens: read,
      cache_write_tokens: write,
      cache_write_1h_tokens: Math.min(write, usage.cacheWriteLongTokens ?? 0),
      output_tokens: output,
      output_image_tokens: Math.min(output, usage.imageTokens ?? 0),
    },
    model,
    { providerId: provider },
  );
  return found && decimalOf(found.total_price);
}

function costByPrices({ input, output, cacheRead, cacheWrite }: ModelPrices, usage: TokenUsage): string {
  return addDecimals([
    [usage.inputTokens ?? 0, input],
    [usage.outputTokens ?? 0, output],
    [usage.cacheReadTokens ?? 0, cacheRead ?? input],
    [usage.cacheWriteTokens ?? 0, cacheWrite ?? input],
  ]);
}
