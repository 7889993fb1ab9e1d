import { FingerprintList, FingerprintSecrets } from '@lodge/contract';
import type { App } from '../../app-types.ts';
import type { ShowsSecrets } from '../../needs.ts';

const schema = {
  operationId: 'fingerprintSecrets',
  tags: ['Service'],
  summary: 'Compute the fingerprints of secrets',
  description:
    'For whoever has a secret and asks whether it is the stored one: where the fingerprints are equal, it is. Nothing is kept. The fingerprints of another account are other ones.',
  body: FingerprintSecrets,
  response: { 200: { ...FingerprintList, 'x-response-description': 'One for each value, in their order.' } },
};

export function fingerprintRoute(app: App, { fingerprints }: ShowsSecrets): void {
  app.route({
    method: 'POST',
    url: '/v1/fingerprints',
    schema,
    // Without a kept reply, nothing about the values reaches the database.
    config: { scopes: ['agents:write'], secretReply: true },
    handler: async (request) => {
      const { accountId } = request.principal;
      return {
        object: 'list' as const,
        data: request.body.values.map(({ for: kind, value }) => ({
          object: 'fingerprint' as const,
          for: kind,
          fingerprint: fingerprints.of(accountId, kind, value),
        })),
        has_more: false as const,
        next_cursor: null,
      };
    },
  });
}
