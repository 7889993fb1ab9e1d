import { Type } from 'typebox';
import type { App } from '../../app-types.ts';
import { keep, sendKept } from '../../reply/kept.ts';
import type { Kept } from '../../reply/kept.ts';

const document = Type.Object({}, { additionalProperties: true });
const schema = {
  operationId: 'getOpenApi',
  tags: ['Service'],
  summary: 'Read this document',
  description: 'Needs no key.',
  response: { 200: { ...document, 'x-response-description': 'The OpenAPI 3.1 document.' } },
};

export function openApiRoute(app: App): void {
  let made: Promise<Kept> | undefined;
  app.route({
    method: 'GET',
    url: '/v1/openapi.json',
    schema,
    config: { public: true },
    compress: false,
    handler: async (request, reply) => {
      const document = await (made ??= keep(JSON.stringify(app.swagger()), 'application/json; charset=utf-8'));
      return sendKept(request, reply, document, 'public, max-age=300');
    },
  });
}
