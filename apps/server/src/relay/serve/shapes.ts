/** The values in a message of a relay process, which counts as hostile. */
import { channelReasonCodes, conversationKinds, isChoiceToken, isJsonObject } from '@lodge/domain';
import type { ChannelReason, Json } from '@lodge/domain';
import type { ConnectionState, InboundMessage, Press, Verified } from '@lodge/ports';
import { boolean, integer, listOf, object, oneOf, optional, picked, ShapeError, text } from '@lodge/domain/shapes';
import type { Shape } from '@lodge/domain/shapes';

/** Texts by name. */
export const dictionary =
  (mostNames: number, of: Shape<string>): Shape<Readonly<Record<string, string>>> =>
  (value, name) => {
    if (!isJsonObject(value) || Object.keys(value).length > mostNames)
      throw new ShapeError(`${name} must be an object`);
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [shortText(key, name), of(each, name)]));
  };

/** As JSON. Adapters keep 4 KiB at most. A stored value comes back with many others in one message. */
const maxJsonChars = 64 * 1024;

/** A value that an adapter stores and only it understands. */
export const json: Shape<Json> = (value, name) => {
  const given = object(value, name);
  if (JSON.stringify(given).length > maxJsonChars) throw new ShapeError(`${name} is too large`);
  return given;
};

export const date: Shape<Date> = (value, name) => {
  const read = new Date(typeof value === 'string' ? value.slice(0, 40) : NaN);
  if (Number.isNaN(read.getTime())) throw new ShapeError(`${name} must be a time`);
  return read;
};

/** A time that an adapter could not read becomes the present, as in the database's rows. */
const sentAt: Shape<Date> = (value, name) => (value === null ? new Date() : date(value, name));

export const shortText = text(2_000);
const longText = text(2 ** 20);
/** A credential that an owner puts; all of a channel's come back with those of 49 others. */
export const credentialText = text(8_192);
/** A value that is stored sealed, such as the keys of one device. */
export const secretText = longText;
export { longText };

const bytes = integer(0, Number.MAX_SAFE_INTEGER);

const file = picked({
  ref: text(4_096),
  name: shortText,
  mediaType: shortText,
  bytes: optional(bytes),
  kind: oneOf('file', 'image', 'voice'),
});

const asked = {
  conversation: picked({ id: shortText, kind: oneOf(...conversationKinds), title: optional(shortText) }),
  sender: picked({ id: shortText, name: shortText, isBot: boolean }),
  addressed: boolean,
};
/** The fields that decide about access. */
export const askedMessage = picked(asked);

const token: Shape<string> = (value, name) => {
  const given = text(64)(value, name);
  if (!isChoiceToken(given)) throw new ShapeError(`${name} must be a token`);
  return given;
};

const nameText = text(200);

export const press: Shape<Press> = picked({
  token,
  sender: picked({ id: nameText, name: nameText, isBot: boolean }),
  conversation: picked({ id: nameText, kind: oneOf(...conversationKinds) }),
  messageId: nameText,
});

// The compiler reports a new field of a message that is missing here.
const wholeMessage = picked({
  id: shortText,
  ...asked,
  text: longText,
  sentAt,
  files: listOf(file, 1_000),
  replyTo: optional(json),
  isUnread: optional(boolean),
} satisfies Readonly<Record<keyof InboundMessage, Shape<unknown>>>);
const message: Shape<InboundMessage> = (value, name) => {
  const { isUnread, ...read } = wholeMessage(value, name);
  return isUnread === true ? { ...read, isUnread } : read;
};
export const messages = listOf(message, 1_000);

export const reason: Shape<ChannelReason> = picked({ code: oneOf(...channelReasonCodes), message: shortText });

const identity = picked({ id: shortText, name: shortText });

export const verified: Shape<Verified> = picked({ identity, accountKey: shortText });

const code = picked({
  qr: optional(shortText),
  pairingCode: optional(shortText),
  expiresAt: date,
  attempt: integer(0, 1_000_000),
});

const connected = picked({ identity, note: optional(shortText), accountKey: optional(shortText) });
const pairing = picked({ reason, code: optional(code) });
const withReason = picked({ reason });
const statuses = oneOf('connecting', 'connected', 'disconnected', 'pending_pairing', 'error');

export const state: Shape<ConnectionState> = (value, name) => {
  const { status } = picked({ status: statuses })(value, name);
  switch (status) {
    case 'connecting':
      return { status };
    case 'connected': {
      const { identity: own, note, accountKey } = connected(value, name);
      return { status, identity: own, ...(note !== null && { note }), ...(accountKey !== null && { accountKey }) };
    }
    case 'pending_pairing': {
      const { reason: why, code: shownCode } = pairing(value, name);
      return { status, reason: why, ...(shownCode && { code: shownCode }) };
    }
    case 'disconnected':
    case 'error':
      return { status, ...withReason(value, name) };
  }
};
