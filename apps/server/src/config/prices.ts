/** Settings of what models and machines cost. */
import { isJsonObject, sizeNames } from '@lodge/domain';
import type { ComputePrice, ComputePrices } from '@lodge/ports';
import { required } from '@lodge/ports/settings';
import { jsonObject } from './values.ts';

const fields = ['running', 'paused', 'storage'] as const;
const nothing: ComputePrice = { running: '0', paused: '0', storage: '0' };

function computePrices(text: string): ComputePrices {
  const given = JSON.parse(jsonObject(text)) as Record<string, unknown>;
  const unknown = Object.keys(given).find((size) => !sizeNames.some((name) => name === size));
  if (unknown !== undefined) throw new Error(`an object by size (${sizeNames.join(', ')})`);
  const prices = sizeNames.map((size) => [size, { ...nothing, ...priceOf(given[size] ?? {}) }]);
  return Object.fromEntries(prices) as ComputePrices;
}

function priceOf(value: unknown): Partial<ComputePrice> {
  const isPrice = ([name, usd]: [string, unknown]): boolean =>
    fields.some((field) => field === name) && typeof usd === 'string' && /^\d{1,6}(\.\d{1,9})?$/.test(usd);
  if (isJsonObject(value) && Object.entries(value).every(isPrice)) {
    return value;
  }
  throw new Error(`prices of each size by ${fields.join(', ')}, in US dollars as text such as "0.05"`);
}

export const priceSettings = {
  prices: required(
    'LODGE_PRICES',
    'JSON object',
    '{}',
    'Prices of models that are not in the built-in list, or that are yours: by `<provider>/<model>`, US dollars for a million tokens as text: `{"openai/gpt-5":{"input":"1.25","output":"10","cache_read":"0.125","cache_write":"1.25"}}`.',
    jsonObject,
  ),
  computePrices: required(
    'LODGE_COMPUTE_PRICES',
    'JSON object',
    '{}',
    'Prices of machines, by size, in US dollars as text: an hour of running, an hour of being paused, and an hour of a GB of disk in any status: `{"medium":{"running":"0.04","paused":"0.01","storage":"0.0001"}}`. A missing price is zero. A change holds from the next start on.',
    computePrices,
  ),
} as const;
