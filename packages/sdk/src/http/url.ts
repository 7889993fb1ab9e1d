export type QueryValue = string | number | boolean | null | undefined | Readonly<Record<string, unknown>>;
export type Query = Readonly<Record<string, QueryValue>>;

/** One segment of a path. Empty ones and those of dots would lead to another operation. */
export function segment(value: string): string {
  if (typeof value !== 'string' || /^\.{0,2}$/.test(value)) {
    throw new TypeError(`${JSON.stringify(value)} cannot be an id or a name in a path.`);
  }
  return encodeURIComponent(value);
}

/** The path `/agents/<id>/…` of an agent, and of what is in it. */
export const agentPath = (id: string, ...more: readonly string[]): string => pathOf('agents', id, ...more);

export const pathOf = (...segments: readonly string[]): string => segments.map((each) => `/${segment(each)}`).join('');

/** `?a=1&metadata[team]=support`, or nothing. */
export function queryText(query: Query = {}): string {
  const pairs: string[] = [];
  const add = (name: string, value: unknown): void => {
    if (value === undefined || value === null) return;
    if (typeof value === 'object') for (const [key, inner] of Object.entries(value)) add(`${name}[${key}]`, inner);
    else pairs.push(`${encodeURIComponent(name)}=${encodeURIComponent(value as string)}`);
  };
  for (const [name, value] of Object.entries(query)) add(name, value);
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

const defaultUrl = 'http://127.0.0.1:8080';

/** The service's address without `/v1` and without a slash at its end. An empty one is the page's own. */
export function originOf(baseUrl: string | undefined): string {
  let end = (baseUrl ?? environment('LODGE_URL') ?? defaultUrl).trim();
  while (end.endsWith('/')) end = end.slice(0, -1);
  return end.endsWith('/v1') ? end.slice(0, -3) : end;
}

/** A variable of the environment, where the platform has one and lets it be read. */
export function environment(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  try {
    return process?.env?.[name] || undefined;
  } catch {
    return undefined;
  }
}
