import { Health } from '@lodge/contract';
import type { App } from '../../app-types.ts';
import type { Readiness } from '../../context.ts';

const schema = {
  operationId: 'getHealth',
  tags: ['Service'],
  summary: 'Ask whether the service works',
  description: 'Needs no key. 500 when the service cannot serve.',
  response: { 200: { ...Health, 'x-response-description': 'The API answers.' } },
};

interface Needs {
  readonly ready: () => Promise<Readiness> | Readiness;
  readonly version: string;
}

export function healthRoute(app: App, context: Needs): void {
  const { version } = context;
  app.route({
    method: 'GET',
    url: '/v1/health',
    schema,
    config: { public: true },
    handler: async () => {
      const { ready, step } = await context.ready();
      return { status: ready ? ('ok' as const) : ('starting' as const), step, version };
    },
  });
}
