import { NoQuery } from '@lodge/contract';
import { Type } from 'typebox';
import type { App } from '../../app-types.ts';

const document = Type.Object({}, { additionalProperties: true });
const schema = {
  operationId: 'getOpenApi',
  tags: ['Service'],
  summary: 'Read this document',
  description: 'Needs no key.',
  querystring: NoQuery,
  response: { 200: { ...document, 'x-response-description': 'The OpenAPI 3.1 document.' } },
};

export function openApiRoute(app: App): void {
  let text: string | undefined;
  app.route({
    method: 'GET',
    url: '/v1/openapi.json',
    schema,
    config: { public: true },
    handler: async (_request, reply) => {
      text ??= JSON.stringify(app.swagger());
      const made = text;
      reply.type('application/json; charset=utf-8').header('cache-control', 'public, max-age=300');
      return reply.serializer(() => made).send({});
    },
  });
}
