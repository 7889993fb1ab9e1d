/**
 * Tokens of sessions and links: 256 random bits as 43 characters of base64url. The store holds only their plain SHA-256,
 * because nobody guesses them.
 */
import { createHash, createHmac, randomBytes, randomInt } from 'node:crypto';
import { makeUserCode as makeCode } from '@lodge/domain';

const tokenBytes = 32;
const shape = /^[\w-]{43}$/;

export function makeToken(): string {
  return randomBytes(tokenBytes).toString('base64url');
}

/** Whether `presented` has the form of our tokens. Others cost no look-up. */
export function isToken(presented: string): boolean {
  return shape.test(presented);
}

export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token, 'utf8').digest();
}

/** Derives the CSRF token of a session. It does not reveal the session's token. */
export function csrfTokenOf(sessionToken: string): string {
  return createHmac('sha256', sessionToken).update('lodge csrf v1').digest('base64url');
}

/** Makes the short code of a device, which a person compares. */
export const makeUserCode = (): string => makeCode(randomInt);
