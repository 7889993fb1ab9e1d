import type { PlatformDefinition, PlatformParts } from '@lodge/ports';
import type { GmailEndpoints, GmailOptions, GmailPush } from './options.ts';
import { readServiceAccount } from './push/service-account-file.ts';
import type { ServiceAccount } from './push/service-account.ts';
import { gmailSettings } from './settings.ts';
import type { GmailValues } from './settings.ts';

/** The account that pulls notices of mail from Pub/Sub; null without push. */
type Read = { readonly account: ServiceAccount | null };

export const gmail: PlatformDefinition<typeof gmailSettings, Read> = {
  settings: gmailSettings,
  disagreements({ topic, subscription, keyFile }) {
    const given = [topic, subscription, keyFile].filter((each) => each !== null).length;
    if (given === 0 || given === 3) return [];
    const { topic: first, subscription: second, keyFile: third } = gmailSettings;
    return [`${first.name}, ${second.name} and ${third.name} go together`];
  },
  readAsRoot: async ({ keyFile }) => ({ account: await readServiceAccount(keyFile) }),
  async open(values, parts) {
    const client = clientOf(values);
    // Without a client of the operator nobody can have consented.
    if (client === null) return null;
    const { createGmail } = await import('./gmail.ts');
    const push = pushOf(values, parts);
    return createGmail({ ...client, timings: { pollMs: values.pollSeconds * 1000 }, ...(push && { push }) });
  },
  async consent(values) {
    const client = clientOf(values);
    return client && (await import('./consent.ts')).createGmailConsent(client);
  },
};

function clientOf({ clientId, clientSecret, ...addresses }: GmailValues): GmailOptions | null {
  if (clientId === null || clientSecret === null) return null;
  return { clientId, clientSecret, endpoints: endpointsOf(addresses) };
}

/** Google's addresses, if the operator sets others. */
const endpointsOf = ({
  api,
  oauth,
  consent,
  pubsub,
}: Pick<GmailValues, 'api' | 'oauth' | 'consent' | 'pubsub'>): Partial<GmailEndpoints> => ({
  ...(api !== null && { api: `${api}/` }),
  ...(oauth !== null && { token: `${oauth}/token` }),
  ...(consent !== null && { consent: `${consent}/o/oauth2/v2/auth` }),
  ...(pubsub !== null && { pubsub: `${pubsub}/` }),
});

function pushOf(
  { topic, subscription, account = null }: GmailValues & Partial<Read>,
  parts: PlatformParts,
): GmailPush | null {
  return topic === null || subscription === null || account === null
    ? null
    : { topic, subscription, account, ...parts };
}
