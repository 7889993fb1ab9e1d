/** Writes the TypeScript type of a JSON Schema, in the parts of it that the contract uses. */
export type Json = Readonly<Record<string, unknown>>;

/** Names of components that every platform has a global of. */
const renamed: Readonly<Record<string, string>> = { Error: 'ErrorBody', Event: 'LodgeEvent', File: 'AgentFile' };
export const nameOf = (component: string): string => renamed[component] ?? component;

interface Field {
  readonly name: string;
  readonly isRequired: boolean;
  readonly description: unknown;
  readonly text: string;
}

export class TypeWriter {
  readonly #schemas: Readonly<Record<string, Json>>;
  readonly #isGiven: boolean;

  /** `isGiven`: for a request. Its arrays are read-only, and its optional fields may be undefined. */
  constructor(schemas: Readonly<Record<string, Json>>, isGiven: boolean) {
    this.#schemas = schemas;
    this.#isGiven = isGiven;
  }

  type(schema: Json, indent: string): string {
    if (typeof schema['$ref'] === 'string') return this.#reference(schema['$ref'].split('/').at(-1)!);
    if ('const' in schema) return literal(schema['const']);
    if (Array.isArray(schema['enum'])) return schema['enum'].map(literal).join(' | ');
    if (schema['contentSchema'] !== undefined) return this.type(schema['contentSchema'] as Json, indent);
    const union = (schema['anyOf'] ?? schema['oneOf']) as readonly Json[] | undefined;
    if (union !== undefined) return unionOf(union.map((each) => this.type(each, indent)));
    return unionOf(typesOf(schema).map((type) => this.#plain(type, schema, indent)));
  }

  object(fields: readonly Field[], indent: string, rest?: string): string {
    const inner = `${indent}  `;
    const lines = fields.map(({ name, isRequired, description, text }) => {
      const key = /^[a-z_$][\w$]*$/i.test(name) ? name : literal(name);
      const type = !isRequired && this.#isGiven && text !== 'unknown' ? `${text} | undefined` : text;
      return `${commented(description, inner)}${inner}${key}${isRequired ? '' : '?'}: ${type};\n`;
    });
    if (rest !== undefined) lines.push(`${inner}[name: string]: ${rest};\n`);
    return lines.length === 0 ? 'unknown' : `{\n${lines.join('')}${indent}}`;
  }

  #reference(name: string): string {
    const isNullable = [this.#schemas[name]?.['type']].flat().includes('null');
    return isNullable ? `${nameOf(name)} | null` : nameOf(name);
  }

  #plain(type: string, schema: Json, indent: string): string {
    switch (type) {
      case 'string':
      case 'boolean':
      case 'null':
        return type;
      case 'integer':
      case 'number':
        return 'number';
      case 'array': {
        const item = this.type((schema['items'] ?? {}) as Json, indent);
        const text = `${isUnion(item) ? `(${item})` : item}[]`;
        return this.#isGiven ? `readonly ${text}` : text;
      }
      case 'object':
        return this.#objectOf(schema, indent);
      default:
        return 'unknown';
    }
  }

  #objectOf(schema: Json, indent: string): string {
    const required = (schema['required'] ?? []) as readonly string[];
    const fields = Object.entries((schema['properties'] ?? {}) as Record<string, Json>).map(([name, value]) => ({
      name,
      isRequired: required.includes(name),
      description: value['description'],
      text: this.type(value, `${indent}  `),
    }));
    const rest = schema['additionalProperties'];
    if (fields.length > 0) return this.object(fields, indent, rest === true ? 'unknown' : undefined);
    if (rest === false) return 'Record<string, never>';
    const value = typeof rest === 'object' && rest !== null ? this.type(rest as Json, indent) : 'unknown';
    return `Record<string, ${value}>`;
  }
}

/** Whether a type's text is a union on its outermost level. */
export function isUnion(text: string): boolean {
  let depth = 0;
  for (const char of text.replaceAll('=>', '')) {
    if ('{(<['.includes(char)) depth += 1;
    if ('})>]'.includes(char)) depth -= 1;
    if (char === '|' && depth === 0) return true;
  }
  return false;
}

const unionOf = (types: readonly string[]): string => [...new Set(types)].join(' | ');

const literal = (value: unknown): string =>
  typeof value === 'string' ? `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'` : JSON.stringify(value);

/** A doc comment with its line break; nothing without a text. A text of the contract cannot end the comment. */
export function commented(text: unknown, indent: string): string {
  if (typeof text !== 'string' || text === '') return '';
  const lines = text.replaceAll('*/', '* /').split('\n');
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join('\n')}\n${indent} */\n`;
}

const typesOf = ({ type = 'any' }: Json): readonly string[] => [type as string | readonly string[]].flat();
