import type { ModelPrices } from '@lodge/ports';
import { Type } from 'typebox';
import { checked, objectAt, parsed } from '../settings.ts';

const maxModels = 10_000;
/** US dollars: what a JSON number would round is no price. */
const price = Type.Optional(
  Type.String({
    pattern: /^\d{1,9}(\.\d{1,12})?$/,
    must: 'US dollars for a million tokens, as text such as "1.25"',
  }),
);
const pricesForm = Type.Object({ input: price, output: price, cache_read: price, cache_write: price });

/**
 * The setting LODGE_PRICES: a JSON object by `<provider>/<model>`, each with the price of a million tokens in US dollars, as
 * text: `{"openai/gpt-5":{"input":"1.25","output":"10","cache_read":"0.125"}}`. An omitted price equals that of input.
 *
 * Throws an Error whose message names the setting and the field.
 */
export function parsePrices(json: string): Map<string, ModelPrices> {
  const models = Object.entries(objectAt(parsed(json, 'LODGE_PRICES'), 'LODGE_PRICES'));
  if (models.length > maxModels) throw new Error(`LODGE_PRICES can hold up to ${maxModels} models.`);
  return new Map(models.map(([name, prices]) => [nameOf(name), parseModelPrices(prices, `LODGE_PRICES.${name}`)]));
}

function nameOf(name: string): string {
  if (/^[^/\s]+\/\S+$/.test(name)) return name;
  throw new Error(`LODGE_PRICES has ${JSON.stringify(name)}, which is not <provider>/<model>.`);
}

export function parseModelPrices(value: unknown, at: string): ModelPrices {
  const {
    input,
    output,
    cache_read: cacheRead = null,
    cache_write: cacheWrite = null,
  } = checked(pricesForm, value, at);
  if (input === undefined || output === undefined) throw new Error(`${at} must have input and output.`);
  return { input, output, cacheRead, cacheWrite };
}
