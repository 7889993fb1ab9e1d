/** The validators' input for a query that is not valid percent-encoding. */
export const malformedQuery = Symbol('malformed query');

/** A query as an object: each parameter a string, one that is given twice an array; `name[key]=value` becomes `{ name: { key: value } }`. */
export function parseQuery(text: string): Record<string, unknown> {
  const query: Record<string | symbol, unknown> = Object.create(null);
  if (text === '') return query;
  for (const part of text.split('&')) {
    if (part === '') continue;
    const equals = part.indexOf('=');
    const name = decode(equals < 0 ? part : part.slice(0, equals));
    const value = decode(equals < 0 ? '' : part.slice(equals + 1));
    if (name === null || value === null) {
      query[malformedQuery] = true;
      break;
    }
    const [, outer, key] = /^([^[\]]+)\[([^[\]]*)\]$/.exec(name) ?? [];
    if (outer === undefined || key === undefined) put(query, name, value);
    else {
      const inner = query[outer] ?? (query[outer] = Object.create(null));
      if (typeof inner === 'object' && inner !== null && !Array.isArray(inner)) put(inner, key, value);
      else put(query, outer, value);
    }
  }
  return query;
}

function put(into: Record<string, unknown>, name: string, value: string): void {
  const present = into[name];
  into[name] = present === undefined ? value : [present, value].flat();
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return null;
  }
}

/** A time that the schema has checked: RFC 3339 allows small letters, JavaScript does not. */
export const timeOf = (text: string): Date => new Date(text.toUpperCase());
