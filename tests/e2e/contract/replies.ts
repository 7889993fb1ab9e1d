/** Checks replies against the OpenAPI document: status, content type and schema, those of each event of a stream too. */
import { Compile } from 'typebox/compile';
import type { Answer } from '../api/world.ts';
import { resolve } from './document.ts';
import type { Operation, Schema } from './document.ts';

type Checker = ReturnType<typeof Compile>;

export interface Breach {
  /** The path of the value and the keyword. */
  readonly place: string;
  /** Where it is of a rule between fields, those of the object that has the rule. */
  readonly ruled: readonly string[] | null;
}

export class Replies {
  private readonly document: Schema;
  private readonly checkers = new Map<string, Checker>();

  constructor(document: Schema) {
    this.document = document;
  }

  /** The difference between a reply and its operation; null if there is none. */
  problem({ schema, method }: Operation, answer: Answer): string | null {
    const { status, headers, body, text } = answer;
    if (status >= 500) return 'a 5xx';
    if (!headers.get('x-request-id')) return 'no X-Request-Id';
    if (status === 204 || method === 'HEAD') return null;
    const declared = schema.responses[status];
    if (declared === undefined) return 'a status that is not declared';
    const type = headers.get('content-type')?.split(';')[0] ?? '';
    if (declared.content === undefined) return text === '' ? null : 'a body that is not declared';
    const content = declared.content[type];
    if (content === undefined) return `a content type that is not declared: ${type}`;
    if (type === 'application/json') {
      return this.fits(content.schema, body) ? null : `not of its schema: ${text.slice(0, 300)}`;
    }
    if (type !== 'text/event-stream') return null;
    const wrong = eventsOf(text).find((event) => !this.fits(content.schema, event));
    return wrong === undefined ? null : `an event that is not of its schema: ${JSON.stringify(wrong).slice(0, 300)}`;
  }

  /** Whether the value is of the schema, whose references are the document's. */
  fits(schema: Schema, value: unknown): boolean {
    return this.checkerOf(schema).Check(value);
  }

  /** Lists where the value breaks the schema, and by which keyword. */
  broken(given: Schema, value: unknown): Breach[] {
    const schema = this.whole(given);
    return this.checkerOf(given)
      .Errors(value)
      .map(({ instancePath, keyword, schemaPath }) => {
        const path = schemaPath.split('/').slice(1);
        const rule = path.lastIndexOf('allOf');
        const owner = rule === -1 ? null : path.slice(0, rule).reduce((node, key) => node[key], schema);
        return { place: `${instancePath} ${keyword}`, ruled: owner?.properties ? Object.keys(owner.properties) : null };
      });
  }

  private checkerOf(schema: Schema): Checker {
    const name = JSON.stringify(schema);
    const checker = this.checkers.get(name) ?? Compile(this.whole(schema));
    this.checkers.set(name, checker);
    return checker;
  }

  /** The schema with everything it refers to written out, and the schema of a JSON text in place of its text. */
  private whole(schema: Schema): Schema {
    if (Array.isArray(schema)) return schema.map((item) => this.whole(item));
    if (typeof schema !== 'object' || schema === null) return schema;
    if (typeof schema.$ref === 'string') return this.whole(resolve(this.document, schema));
    if (schema.contentSchema !== undefined) return this.whole(schema.contentSchema);
    return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, this.whole(value)]));
  }
}

interface StreamEvent {
  event?: string;
  id?: string;
  data: unknown;
}

/** The events of a stream, their data parsed where it is JSON. */
export function eventsOf(stream: string): StreamEvent[] {
  return stream.split('\n\n').flatMap((block) => {
    const event: StreamEvent = { data: undefined };
    for (const line of block.split('\n')) {
      const [, name, value = ''] = /^(event|id|data): ?(.*)$/.exec(line) ?? [];
      if (name === 'event' || name === 'id') event[name] = value;
      if (name === 'data') event.data = parsed(value);
    }
    return event.data === undefined ? [] : [event];
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
