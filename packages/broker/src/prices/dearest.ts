/** The dearest known prices, for models that have none where something has to be assumed. */
import type { ModelPrices } from '@lodge/ports';
import { findProvider } from '@pydantic/genai-prices';
import type { ModelPrice } from '@pydantic/genai-prices';
import { decimalOf } from './decimal.ts';

/** The dearest of these prices, each direction by itself; null where there are none. */
export function dearestOf(known: readonly ModelPrices[]): ModelPrices | null {
  if (known.length === 0) return null;
  const most = (read: (prices: ModelPrices) => string): string =>
    decimalOf(Math.max(...known.map((prices) => Number(read(prices)))));
  const input = most((prices) => prices.input);
  return {
    input,
    output: most((prices) => prices.output),
    cacheRead: most((prices) => prices.cacheRead ?? prices.input),
    cacheWrite: most((prices) => prices.cacheWrite ?? prices.input),
  };
}

/** The list's prices of a provider's models: the dearest of tiers and seasons. `name` is the list's own. */
export function listedPrices(name: string): ModelPrices[] {
  return (findProvider({ providerId: name })?.models ?? []).flatMap(({ prices }) =>
    (Array.isArray(prices) ? prices.map((season) => season.prices) : [prices]).map(pricesOf),
  );
}

function pricesOf(price: ModelPrice): ModelPrices {
  const rate = (field: string): number => {
    const found = price[field] ?? 0;
    return typeof found === 'number' ? found : Math.max(found.base, ...found.tiers.map((tier) => tier.price));
  };
  const input = rate('input_mtok');
  return {
    input: decimalOf(input),
    output: decimalOf(rate('output_mtok')),
    cacheRead: decimalOf(Math.max(input, rate('cache_read_mtok'))),
    cacheWrite: decimalOf(Math.max(input, rate('cache_write_mtok'), rate('cache_write_1h_mtok'))),
  };
}
