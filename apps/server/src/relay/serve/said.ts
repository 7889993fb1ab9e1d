import type { RelayReply } from '../protocol.ts';
import { boolean, integer, oneOf, optional, picked } from '@lodge/domain/shapes';
import { reason, verified } from './shapes.ts';

const types = picked({ type: oneOf('ready', 'pong', 'verified', 'paired', 'failed') });
const id = integer(0, Number.MAX_SAFE_INTEGER);
const ofVerify = picked({ id, verified: optional(verified) });
const ofPair = picked({ id, isHere: boolean });
const ofFailure = picked({ id, reason });

/** Checks a relay process' reply; throws `ShapeError`. */
export function readReply(value: unknown): RelayReply {
  const { type } = types(value, 'reply');
  switch (type) {
    case 'ready':
    case 'pong':
      return { type };
    case 'verified':
      return { type, ...ofVerify(value, 'reply') };
    case 'paired':
      return { type, ...ofPair(value, 'reply') };
    case 'failed':
      return { type, ...ofFailure(value, 'reply') };
  }
}
