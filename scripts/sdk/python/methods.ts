/** The methods of the Python SDK that are one request each, from the operations of the document. */
import { places } from '../../../tests/hands/operations.ts';
import { descriptionOf, isRequired, propertiesOf, refOf } from './document.ts';
import type { Operation, Parameter, Schema } from './document.ts';
import { className, docstring, identifier, pascal, singular, snake, text } from './names.ts';
import type { ReplyTypes, RequestTypes } from './types.ts';

/** Operations whose methods a person wrote: they send or receive bytes, or have another shape. */
const byHand = new Set([
  'exportAgent',
  'getAgentFile',
  'getSkillFile',
  'getSnapshotFile',
  'importAgent',
  'listAgentFiles',
  'listSnapshotFiles',
  'putAgentFile',
  'deleteAgentFile',
  'openAgentPortTunnel',
  'openAgentTerminal',
  'pairWhatsApp',
  'sendToHook',
  'uploadAgentFilePart',
]);

interface Twin {
  readonly method: string;
  /** The function of `_events.py` that reads an event, and what it makes. */
  readonly decoder: string;
  readonly item: string;
}
/** The method that streams what an operation answers. */
const streams: Readonly<Record<string, Twin>> = {
  createAgentChatCompletion: { method: 'stream', decoder: 'chat_chunk', item: 'ChatCompletionChunk' },
  createChatCompletion: { method: 'stream_completions', decoder: 'chat_chunk', item: 'ChatCompletionChunk' },
  createAgentResponse: { method: 'stream', decoder: 'response_event', item: 'ResponseEvent' },
  createResponse: { method: 'stream_for', decoder: 'response_event', item: 'ResponseEvent' },
  execInAgent: { method: 'stream', decoder: 'exec_event', item: 'ExecEvent' },
};
const follows: Readonly<Record<string, Twin>> = {
  listEvents: { method: 'follow', decoder: 'lodge_event', item: 'LodgeEvent' },
  listAgentLogs: { method: 'follow_logs', decoder: 'log_entry', item: 'LogEntry' },
};

/** Parameters that the SDK has another way for. */
const unused = new Set(['prefer', 'Idempotency-Key', 'x-conversation-id', 'last-event-id', 'follow', 'format']);
const unusedToFollow = new Set(['cursor', 'until', 'direction']);

/** Seconds that a reply may take to begin, by what the operation waits for. */
const turnSeconds = 31 * 60;
const waitSeconds = 150;

export interface Method {
  readonly resource: string;
  readonly text: string;
}

export interface MethodTypes {
  readonly replies: ReplyTypes;
  readonly requests: RequestTypes;
}

/** Whether the Python SDK has a method for it. */
export const hasMethod = ({ id }: Operation): boolean => typeof places[id]?.method !== 'object';

export function methodsOf(operation: Operation, types: MethodTypes): readonly Method[] {
  const place = places[operation.id];
  if (place === undefined) throw new Error(`tests/hands/operations.ts has no line for ${operation.id}.`);
  const [resource, name] = (place.method as string).split('.') as [string, string];
  if (byHand.has(operation.id)) return [];
  const writer = new MethodWriter(operation, types);
  const methods = [writer.plain(snake(name))];
  const [stream, follow] = [streams[operation.id], follows[operation.id]];
  if (stream) methods.push(writer.streamed(stream, false));
  if (follow) methods.push(writer.streamed(follow, true));
  return methods.map((each) => ({ resource, text: each }));
}

interface Argument {
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly description: string;
  /** Its name on the wire. */
  readonly wire: string;
  readonly place: 'path' | 'query' | 'header' | 'body';
}

class MethodWriter {
  readonly #operation: Operation;
  readonly #types: MethodTypes;

  constructor(operation: Operation, types: MethodTypes) {
    this.#operation = operation;
    this.#types = types;
  }

  plain(name: string): string {
    const { id, reply } = this.#operation;
    const args = this.#arguments(unused);
    const item = reply && itemOf(reply, this.#types.replies.components);
    if (item) {
      const type = this.#types.replies.type(item, pascal(singular(id)));
      return this.#method(`def ${name}`, args, `AsyncPages[${type}]`, `self._client.pages(${type}, $CALL, options)`);
    }
    const type = reply ? this.#types.replies.type(reply, replyName(id)) : 'None';
    const call = type === 'dict[str, Any]' ? 'call_object($CALL, options)' : `call(${type}, $CALL, options)`;
    return this.#method(`async def ${name}`, args, type, `await self._client.${call}`);
  }

  streamed({ method, decoder, item }: Twin, isFollow: boolean): string {
    const args = this.#arguments(isFollow ? new Set([...unused, ...unusedToFollow]) : unused);
    if (isFollow) {
      args.push({
        name: 'last_event_id',
        type: 'str',
        isRequired: false,
        description: 'Id of the last entry that was seen: those behind it come, and nothing else.',
        wire: 'last-event-id',
        place: 'header',
      });
    }
    const how = isFollow ? 'follow' : 'stream';
    const doc = isFollow
      ? 'As an iterator, oldest first, that goes on where it was after a cut.'
      : 'As an iterator of what comes. Leave it by `close`, or use it in a `with`: the server then stops.';
    return this.#method(
      `def ${method}`,
      args,
      `AsyncStream[${item}]`,
      `self._client.${how}(${decoder}, $CALL, options)`,
      { note: doc, isStream: !isFollow },
    );
  }

  #arguments(without: ReadonlySet<string>): Argument[] {
    const { parameters, body, id, path } = this.#operation;
    const object = body && this.#resolved(body);
    const fields = new Set(object ? propertiesOf(object).map(([field]) => field) : []);
    // A parameter that is a field too is for bodies of another type.
    const args: Argument[] = parameters
      .filter(({ name, in: place }) => !without.has(name) && !(place === 'query' && fields.has(name)))
      .map((each) => ({
        name: argumentName(each, path),
        type: this.#parameterType(each),
        isRequired: each.required === true,
        description: each.description ?? '',
        wire: each.name,
        place: each.in,
      }));
    for (const [field, schema] of object ? propertiesOf(object) : []) {
      if (field === 'stream') continue;
      args.push({
        name: identifier(snake(field)),
        type: this.#requestType(schema, bodyName(id, body!) + pascal(field)),
        isRequired: isRequired(object!, field),
        description: descriptionOf(schema),
        wire: field,
        place: 'body',
      });
    }
    const names = args.map(({ name }) => name);
    const twice = names.find((name, index) => names.indexOf(name) !== index || name === 'options');
    if (twice !== undefined) throw new Error(`${id} has two arguments named ${twice}.`);
    return args;
  }

  #resolved(schema: Schema): Schema {
    const component = refOf(schema);
    return component === null ? schema : this.#types.requests.components[component]!;
  }

  #parameterType({ schema, in: place, name }: Parameter): string {
    const words = schema['enum'] as readonly string[] | undefined;
    if (words?.includes('true')) return 'bool';
    if (place === 'query') return this.#requestType(schema, pascal(this.#operation.id) + pascal(name));
    return schema['type'] === 'integer' ? 'int' : 'str';
  }

  /** Types of requests are in their own module, for some have the name of a reply's. */
  #requestType(schema: Schema, name: string): string {
    const type = this.#types.requests.type(schema, name);
    return type.replaceAll(/\b[A-Z]\w*/g, (word) => (this.#types.requests.classes.has(word) ? `params.${word}` : word));
  }

  #method(
    head: string,
    args: readonly Argument[],
    result: string,
    call: string,
    { note = '', isStream = false }: { readonly note?: string; readonly isStream?: boolean } = {},
  ): string {
    const { description, summary, id, body } = this.#operation;
    const ordered = [
      ...args.filter(({ place }) => place === 'path'),
      ...args.filter(({ place, isRequired: must }) => place !== 'path' && must),
      ...args.filter(({ place, isRequired: must }) => place !== 'path' && !must),
    ];
    const isOpen = body !== null && this.#resolved(body)['additionalProperties'] === true;
    const lines = ordered.map((each) => `        ${argumentText(each)},\n`);
    const firstNamed = ordered.findIndex(({ place }) => place !== 'path');
    lines.splice(firstNamed === -1 ? lines.length : firstNamed, 0, '        *,\n');
    const rest = isOpen ? '        **more: Any,\n' : '';
    const told = ordered
      .filter((each) => each.description !== '')
      .map((each) => `    ${each.name}: ${each.description}`);
    const sections = [`${summary}.`, description, note, told.length === 0 ? '' : ['Args:', ...told].join('\n')];
    const callText = this.#call(args, id, { isOpen, isStream });
    return (
      `    ${head}(\n        self,\n${lines.join('')}        options: RequestOptions | None = None,\n${rest}    ) -> ${result}:\n` +
      docstring(sections.filter(Boolean).join('\n\n'), '        ') +
      `        return ${returned(call, callText)}\n`
    );
  }

  #call(
    args: readonly Argument[],
    id: string,
    { isOpen, isStream }: { readonly isOpen: boolean; readonly isStream: boolean },
  ) {
    const { verb, path, body, parameters } = this.#operation;
    const of = (place: Argument['place']): string[] =>
      args.filter((each) => each.place === place).map(({ wire, name }) => `${text(wire)}: ${name}`);
    let url = path.replace(/^\/v1/, '');
    for (const { place, wire, name } of args)
      if (place === 'path') url = url.replace(`{${wire}}`, `{segment(${name})}`);
    const [query, headers, fields] = [of('query'), of('header'), of('body')];
    if (isStream) fields.push('"stream": True');
    if (isOpen) fields.push('**more');
    // A turn and a command are carried out once: they are repeated by a key of the caller alone.
    const isKeyed = streams[id] === undefined && parameters.some(({ name }) => name === 'Idempotency-Key');
    const patience = isStream ? null : patienceOf(id, args);
    const parts = [
      text(verb),
      `${url.includes('{') ? 'f' : ''}${text(url)}`,
      ...(query.length > 0 ? [`query={${query.join(', ')}}`] : []),
      ...(headers.length > 0 ? [`headers={${headers.join(', ')}}`] : []),
      ...(body !== null ? [`body={${fields.join(', ')}}`] : []),
      ...(isKeyed ? ['keyed=True'] : []),
      ...(patience === null ? [] : [`patience=${patience}`]),
    ];
    return laidOut(parts);
  }
}

/** The expression that sends a call: in one line where it is short. */
function returned(pattern: string, call: string): string {
  const flat = pattern.replace('$CALL', call);
  if (flat.length <= 100 && !flat.includes('\n')) return flat;
  const open = pattern.indexOf('(');
  const args = pattern.slice(open + 1, -1).split(', ');
  const lines = args.map((each) => `            ${each === '$CALL' ? call : each},\n`);
  return `${pattern.slice(0, open + 1)}\n${lines.join('')}        )`;
}

/** A call in lines that a person can read. */
function laidOut(parts: readonly string[]): string {
  const flat = `Call(${parts.join(', ')})`;
  if (flat.length <= 80) return flat;
  const indent = ' '.repeat(12);
  const lines = parts.map((part) => {
    const open = part.indexOf('{');
    if (part.length <= 90 || part.startsWith('f"') || open === -1) return `${indent}    ${part},\n`;
    const fields = part.slice(open + 1, -1).split(', ');
    const inner = fields.map((each) => `${indent}        ${each},\n`).join('');
    return `${indent}    ${part.slice(0, open + 1)}\n${inner}${indent}    },\n`;
  });
  return `Call(\n${lines.join('')}${indent})`;
}

const argumentText = ({ name, type, isRequired: must }: Argument): string =>
  must ? `${name}: ${type}` : `${name}: ${type} | NotGiven = NOT_GIVEN`;

function argumentName({ name, in: place }: Parameter, path: string): string {
  if (place !== 'path') return identifier(name.replaceAll('-', '_'));
  if (name !== 'id')
    return ['webhook', 'hook', 'schedule', 'message', 'delivery', 'upload'].includes(name) ? `${name}_id` : name;
  const before = path.slice(0, path.indexOf('/{id}')).split('/').at(-1)!;
  return before === 'people' ? 'person_id' : `${singular(before)}_id`;
}

function patienceOf(id: string, args: readonly Argument[]): string | null {
  const has = (name: string): boolean => args.some((each) => each.name === name);
  if (streams[id] !== undefined && id !== 'execInAgent') return String(turnSeconds);
  if (has('timeout_seconds')) return 'silence(timeout_seconds, 150)';
  if (has('timeout')) return 'silence(timeout, 30)';
  return has('wait') ? String(waitSeconds) : null;
}

/** The items of a list that comes in pages; null for another reply. */
function itemOf(reply: Schema, components: Readonly<Record<string, Schema>>): Schema | null {
  const component = refOf(reply);
  const schema = component === null ? reply : components[component]!;
  const properties = Object.fromEntries(propertiesOf(schema));
  if (properties['next_cursor'] === undefined) return null;
  return (properties['data']?.['items'] ?? null) as Schema | null;
}

const replyName = (id: string): string => `${pascal(id)}Reply`;
const bodyName = (id: string, body: Schema): string => {
  const component = refOf(body);
  return component === null ? pascal(id) : className(component);
};
