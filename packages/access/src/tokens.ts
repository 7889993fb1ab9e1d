/** Tokens of sessions and links: 256 random bits as 43 characters of base64url. At rest only their SHA-256 is kept: plain, as nobody guesses them. */
import { createHash, createHmac, randomBytes } from 'node:crypto';

const tokenBytes = 32;
const shape = /^[\w-]{43}$/;

export function makeToken(): string {
  return randomBytes(tokenBytes).toString('base64url');
}

/** Whether `presented` could be a token of ours: others cost no look-up. */
export function isToken(presented: string): boolean {
  return shape.test(presented);
}

export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token, 'utf8').digest();
}

/** A token that goes with a session's: whoever has it cannot tell the session's from it. */
export function csrfTokenOf(sessionToken: string): string {
  return createHmac('sha256', sessionToken).update('lodge csrf v1').digest('base64url');
}
