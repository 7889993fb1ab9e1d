/** Messages of the page that shows a browser. */
import { browserControl } from '@lodge/domain';
import { Type } from 'typebox';
import type { Static, TProperties } from 'typebox';
import { Check } from 'typebox/value';
import { oneOf } from '@lodge/contract';

const message = <Kind extends string, Fields extends TProperties>(type: Kind, fields: Fields) =>
  Type.Object({ type: Type.Literal(type), ...fields }, { additionalProperties: false });

const place = Type.Number({ minimum: 0, maximum: 16_384 });
const scroll = Type.Number({ minimum: -10_000, maximum: 10_000 });
/** Bits of Chromium's protocol: Alt, Control, Meta, Shift. */
const modifiers = Type.Integer({ minimum: 0, maximum: 15 });
const keyName = Type.String({ maxLength: 32 });
const tabId = Type.String({ pattern: '^[0-9A-Fa-f]{16,64}$' });

const schemas = {
  /** It has drawn the picture. */
  drawn: message('drawn', {}),
  mouse: message('mouse', {
    kind: oneOf(['mouseMoved', 'mousePressed', 'mouseReleased']),
    x: place,
    y: place,
    button: oneOf(['none', 'left', 'middle', 'right']),
    buttons: Type.Integer({ minimum: 0, maximum: 31 }),
    clicks: Type.Integer({ minimum: 0, maximum: 3 }),
    modifiers,
  }),
  wheel: message('wheel', { x: place, y: place, dx: scroll, dy: scroll, modifiers }),
  key: message('key', {
    kind: oneOf(['keyDown', 'keyUp']),
    key: keyName,
    code: keyName,
    text: Type.String({ maxLength: 8 }),
    keyCode: Type.Integer({ minimum: 0, maximum: 65_535 }),
    modifiers,
  }),
  /** Text that was pasted, or composed from several keys. */
  text: message('text', { text: Type.String({ minLength: 1, maxLength: 20_000 }) }),
  go: message('go', { url: Type.String({ minLength: 1, maxLength: 2_000 }) }),
  act: message('act', { what: oneOf(['back', 'forward', 'reload']) }),
  tab: message('tab', { what: oneOf(['show', 'close']), id: tabId }),
  open: message('open', {}),
  dialog: message('dialog', { accept: Type.Boolean(), text: Type.String({ maxLength: 2_000 }) }),
  take: message('take', {
    seconds: Type.Integer({ minimum: browserControl.least, maximum: browserControl.most }),
  }),
  release: message('release', {}),
  /** Starts a browser that has ended. */
  start: message('start', {}),
} as const;

type Schemas = typeof schemas;
export type ViewMessage = { readonly [Kind in keyof Schemas]: Static<Schemas[Kind]> }[keyof Schemas];

/** Null for anything that is no message. */
export function viewMessageOf(bytes: Uint8Array): ViewMessage | null {
  try {
    const value = JSON.parse(Buffer.from(bytes).toString()) as ViewMessage;
    const { type } = value;
    return Object.hasOwn(schemas, type) && Check(schemas[type], value) ? value : null;
  } catch {
    return null;
  }
}
