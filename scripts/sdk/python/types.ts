/**
 * Writes Python's types of JSON Schemas: models of pydantic for replies, typed dictionaries for what a request holds. An object
 * within another one gets a class of its own, named by where it is; the same object twice is one class.
 */
import { descriptionOf, isRequired, propertiesOf, refOf, typesOf } from './document.ts';
import type { Schema } from './document.ts';
import { className, docstring, identifier, pascal, singular, text } from './names.ts';

/** A list of words as long as this has a name of its own. */
const maxWordsLength = 100;
/** Attributes of every model, which a field must not hide. */
const taken = new Set(['copy', 'dict', 'json', 'schema', 'validate', 'construct', 'fields', 'model_config']);

/** Parts whose shape is OpenAI's, in `_openai.py`: the document says little of them. */
const openAi: Readonly<Record<string, string>> = {
  ChatChoice: 'ChatChoice',
  ChatCompletionChoice: 'ChatChoice',
  ChatChunkChoice: 'ChatChunkChoice',
  ChatCompletionChunkChoice: 'ChatChunkChoice',
  ResponseOutput: 'ResponseOutput',
  AgentResponseOutputItem: 'ResponseOutput',
};

abstract class Types {
  readonly components: Readonly<Record<string, Schema>>;
  /** Classes by name, in an order in which each comes after those that it needs. */
  readonly classes = new Map<string, string>();
  readonly #nameOf = new Map<string, string>();
  readonly #begun = new Set<string>();

  constructor(components: Readonly<Record<string, Schema>>) {
    this.components = components;
  }

  /** The type of a schema. `name` names what has none: the class of an object, the alias of a long list of words. */
  type(schema: Schema, name: string): string {
    const component = refOf(schema);
    if (component !== null) {
      const target = this.components[component]!;
      return this.type(target, className(component));
    }
    const written = this.written[name];
    if (written !== undefined) return written;
    const kinds = typesOf(schema);
    const types = [...new Set(this.#alternatives(schema, kinds, name))];
    if (kinds.includes('null') && !types.includes('None')) types.push('None');
    return types.join(' | ');
  }

  #alternatives(schema: Schema, kinds: readonly string[], name: string): readonly string[] {
    if (Array.isArray(schema['enum']))
      return this.words(schema['enum'].filter((word) => word !== null) as string[], name);
    if ('const' in schema) return [this.constant(schema['const'])];
    const any = (schema['anyOf'] ?? schema['oneOf']) as readonly Schema[] | undefined;
    if (any !== undefined && propertiesOf(schema).length === 0)
      return any.flatMap((each) => this.type(each, name).split(' | '));
    const solid = kinds.filter((kind) => kind !== 'null');
    return solid.length === 0 && !kinds.includes('null')
      ? ['Any']
      : solid.map((kind) => this.#plain(kind, schema, name));
  }

  #plain(kind: string, schema: Schema, name: string): string {
    switch (kind) {
      case 'boolean':
        return 'bool';
      case 'integer':
        return 'int';
      case 'number':
        return 'float';
      case 'array':
        return this.array(this.type((schema['items'] ?? {}) as Schema, itemName(name)));
      case 'object':
        return this.#object(schema, name);
      default:
        return schema['format'] === 'date-time' ? this.time : 'str';
    }
  }

  #object(schema: Schema, name: string): string {
    if (propertiesOf(schema).length > 0) return this.named(schema, name);
    const rest = schema['additionalProperties'];
    return this.mapping(typeof rest === 'object' && rest !== null ? this.type(rest as Schema, `${name}Value`) : 'Any');
  }

  /** Classes that a person wrote, by the name that an object would get. */
  protected readonly written: Readonly<Record<string, string>> = {};

  /** The class of an object with properties. */
  protected named(schema: Schema, wanted: string): string {
    const key = JSON.stringify({ ...schema, description: null, examples: null });
    const known = this.#nameOf.get(key);
    if (known !== undefined) return known;
    let name = wanted;
    for (let number = 2; this.#begun.has(name); number += 1) name = `${wanted}${number}`;
    this.#begun.add(name);
    this.#nameOf.set(key, name);
    this.classes.set(name, this.classText(schema, name));
    return name;
  }

  /** A list of words: as it is where it is short, else by a name. */
  protected alias(words: readonly string[], wanted: string): string {
    const short = `Literal[${words.map(text).join(', ')}]`;
    if (short.length <= maxWordsLength) return short;
    const known = this.#nameOf.get(short);
    if (known !== undefined) return known;
    this.#begun.add(wanted);
    this.#nameOf.set(short, wanted);
    this.classes.set(wanted, `${wanted} = Literal[\n${words.map((word) => `    ${text(word)},\n`).join('')}]\n`);
    return wanted;
  }

  protected abstract readonly time: string;
  protected abstract words(words: readonly string[], name: string): readonly string[];
  protected abstract constant(value: unknown): string;
  protected abstract array(items: string): string;
  protected abstract mapping(values: string): string;
  protected abstract classText(schema: Schema, name: string): string;
}

const itemName = (name: string): string => pascal(singular(name));

/** Fields whose values are told to nobody who prints a reply; of some replies the address is one. */
const secretFields = new Set(
  'secret key token access_token refresh_token csrf_token device_code recovery_codes otpauth_url'.split(' '),
);
const secretAddresses = new Set(['CreatedHook', 'CreatedInvitation', 'Link']);
const isSecret = (name: string, field: string, type: string): boolean =>
  type.startsWith('str') || type === 'list[str]'
    ? secretFields.has(field) || (field === 'url' && secretAddresses.has(name))
    : false;

/** Models of replies: a word or a field that the document does not know is kept. */
export class ReplyTypes extends Types {
  protected override readonly written: Readonly<Record<string, string>> = openAi;
  protected readonly time = 'datetime';
  protected words = (words: readonly string[], name: string) => [this.alias(words, name), 'str'];
  protected constant = (value: unknown) => (typeof value === 'string' ? `Literal[${text(value)}]` : 'bool');
  protected array = (items: string) => `list[${items}]`;
  protected mapping = (values: string) => `dict[str, ${values}]`;

  protected classText(schema: Schema, name: string): string {
    const fields = propertiesOf(schema).map(([field, value]) => {
      const attribute = taken.has(field) ? `${field}_` : identifier(field);
      const type = this.type(value, name + pascal(field));
      const isOptional = !isRequired(schema, field);
      const nullable = isOptional && !type.split(' | ').includes('None') ? `${type} | None` : type;
      const parts = [
        ...(isOptional ? ['default=None'] : []),
        ...(attribute === field ? [] : [`alias=${text(field)}`]),
        ...(isSecret(name, field, type) ? ['repr=False'] : []),
      ];
      const set =
        parts.length === 0 ? '' : parts.join() === 'default=None' ? ' = None' : ` = Field(${parts.join(', ')})`;
      return `    ${attribute}: ${nullable}${set}\n${describe(value)}`;
    });
    const doc = docstring(descriptionOf(schema), '    ');
    return `class ${name}(Reply):\n${doc}${doc === '' ? '' : '\n'}${fields.join('')}`;
  }
}

/** Typed dictionaries of what requests hold. */
export class RequestTypes extends Types {
  protected readonly time = 'datetime | str';
  protected words = (words: readonly string[], name: string) => [this.alias(words, name)];
  protected constant = (value: unknown) =>
    `Literal[${typeof value === 'string' ? text(value) : value === true ? 'True' : 'False'}]`;
  protected array = (items: string) => `Sequence[${items}]`;
  protected mapping = (values: string) => `Mapping[str, ${values}]`;

  protected classText(schema: Schema, name: string): string {
    const fields = propertiesOf(schema).map(([field, value]) => {
      const type = this.type(value, name + pascal(field));
      return { field, type: isRequired(schema, field) ? `Required[${type}]` : type, value };
    });
    const doc = docstring(descriptionOf(schema), '    ');
    if (fields.some(({ field }) => identifier(field) !== field)) {
      const entries = fields.map(({ field, type }) => `        ${text(field)}: ${type},\n`);
      return `${name} = TypedDict(\n    "${name}",\n    {\n${entries.join('')}    },\n    total=False,\n)\n${doc.replaceAll(/^ {4}/gm, '')}`;
    }
    const lines = fields.map(({ field, type, value }) => `    ${field}: ${type}\n${describe(value)}`);
    return `class ${name}(TypedDict, total=False):\n${doc}${doc === '' ? '' : '\n'}${lines.join('')}`;
  }
}

const describe = (schema: Schema): string => docstring(descriptionOf(schema), '    ');
