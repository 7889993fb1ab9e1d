import { isJsonObject } from '@lodge/domain';
import type { ModelPrices } from '@lodge/ports';

const fields: readonly string[] = ['input', 'output', 'cache_read', 'cache_write'];
const maxModels = 10_000;
/** US dollars: what a JSON number would round is no price. */
const price = /^\d{1,9}(\.\d{1,12})?$/;

/**
 * The setting LODGE_PRICES: a JSON object by `<provider>/<model>`, each with the price of a million tokens in US dollars, as
 * text: `{"openai/gpt-5":{"input":"1.25","output":"10","cache_read":"0.125"}}`. An omitted price equals that of input.
 *
 * Throws an Error whose message names the setting and the field.
 */
export function parsePrices(json: string): Map<string, ModelPrices> {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw new Error('LODGE_PRICES must be valid JSON.');
  }
  const models = entriesOf(value, 'LODGE_PRICES');
  if (models.length > maxModels) throw new Error(`LODGE_PRICES can hold up to ${maxModels} models.`);
  return new Map(models.map(([name, prices]) => [nameOf(name), parseModelPrices(prices, `LODGE_PRICES.${name}`)]));
}

function nameOf(name: string): string {
  if (/^[^/\s]+\/\S+$/.test(name)) return name;
  throw new Error(`LODGE_PRICES has ${JSON.stringify(name)}, which is not <provider>/<model>.`);
}

export function parseModelPrices(value: unknown, at: string): ModelPrices {
  const given = new Map(entriesOf(value, at));
  for (const field of given.keys()) {
    if (!fields.includes(field)) throw new Error(`${at}.${field} is not a field; known are: ${fields.join(', ')}.`);
  }
  const read = (field: string): string | null => {
    const found = given.get(field);
    if (found === undefined) return null;
    if (typeof found === 'string' && price.test(found)) return found;
    throw new Error(`${at}.${field} must be US dollars for a million tokens, as text such as "1.25".`);
  };
  const [input, output] = [read('input'), read('output')];
  if (input === null || output === null) throw new Error(`${at} must have input and output.`);
  return { input, output, cacheRead: read('cache_read'), cacheWrite: read('cache_write') };
}

function entriesOf(value: unknown, at: string): [string, unknown][] {
  if (isJsonObject(value)) return Object.entries(value);
  throw new Error(`${at} must be an object.`);
}
