import { createPrivateKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { keyFileVariable as variable } from '../settings.ts';
import type { ServiceAccount } from './service-account.ts';

/** Reads the file that Google gives out. Rejects with advice; the error contains nothing of the file. */
export async function readServiceAccount(path: string | null): Promise<ServiceAccount | null> {
  if (path === null) return null;
  const text = await readFile(path, 'utf8').catch(() => null);
  if (text === null) throw new Error(`${variable}: ${path} cannot be read.`);
  const account = accountIn(text);
  if (account === null)
    throw new Error(
      `${variable}: ${path} is no key of a service account. Make one in JSON (docs/guides/channels/gmail.md).`,
    );
  return account;
}

function accountIn(text: string): ServiceAccount | null {
  try {
    const key = JSON.parse(text) as Record<string, unknown> | null;
    const { client_email: email, private_key: privateKey } = key ?? {};
    if (key?.['type'] !== 'service_account' || typeof email !== 'string' || typeof privateKey !== 'string') return null;
    return createPrivateKey(privateKey).asymmetricKeyType === 'rsa' ? { email, privateKey } : null;
  } catch {
    return null;
  }
}
