/**
 * What a guest's daemon knows the host by: 256 random bits, made for one execution of one agent. The daemon keeps its SHA-256
 * alone. That digest opens nothing, so it may stand where the guest's own users can read it (`/proc/cmdline`).
 */
import { createHash, randomBytes } from 'node:crypto';

/** 43 characters of base64url. */
export const credentialPattern = /^[\w-]{43}$/;
/** SHA-256 of a credential's characters, in hexadecimal. */
export const credentialDigestPattern = /^[\da-f]{64}$/;

export function newCredential(): string {
  return randomBytes(32).toString('base64url');
}

export function credentialDigest(credential: string): string {
  return createHash('sha256').update(credential).digest('hex');
}

/** Kernel parameter by which a booting guest's daemon learns the digest before anything of the agent's runs. */
export const credentialParameter = 'lodge.credential';
/** Request header that gives the daemon the credential to know the host by from this request on. */
export const claimHeader = 'x-guestd-credential';
