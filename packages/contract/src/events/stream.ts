import { Type } from 'typebox';
import type { TSchema } from 'typebox';

/** The `data` of an event as its parser reads it: text that is JSON of this schema. */
export const jsonText = (contentSchema: TSchema) =>
  Type.Unsafe<string>({ type: 'string', contentMediaType: 'application/json', contentSchema });

/** An event with a name of its own. */
export const namedEvent = (event: string, data: TSchema) =>
  Type.Object({ event: Type.Literal(event), data: jsonText(data) });

/** An event without a name, which parsers call `message`. */
export const plainEvent = (data: TSchema) =>
  Type.Object({ event: Type.Optional(Type.Literal('message')), data: jsonText(data) });

/** An event of an entry, with its id for `Last-Event-ID`. */
export const entryEvent = (data: TSchema) =>
  Type.Object({ ...plainEvent(data).properties, id: Type.String({ pattern: '^\\d{1,19}$' }) });

/**
 * Describes each event of a `text/event-stream`. OpenAPI 3.1 has one schema for a stream. Like the `itemSchema` of 3.2, it
 * describes the single event, with the fields of the event stream format.
 */
export const streamOf = (title: string, anyOf: readonly TSchema[]) =>
  Type.Unsafe<string>({ title, type: 'object', required: ['data'], ...(anyOf.length === 1 ? anyOf[0] : { anyOf }) });
