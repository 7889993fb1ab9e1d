import cors from '@fastify/cors';
import type { App } from './context.ts';

const oneDaySeconds = 86_400;

/** Lets pages of these origins call the API with a key. Cookies are not among it: the account area is for its own pages. */
export function addCors(app: App, origins: readonly string[]): void {
  if (origins.length === 0) return;
  app.register(cors, {
    origin: [...origins],
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowedHeaders: [
      'Authorization',
      'Content-Type',
      'Idempotency-Key',
      'If-Match',
      'Last-Event-ID',
      'Prefer',
      'X-API-Key',
      'X-Conversation-Id',
    ],
    exposedHeaders: [
      'ETag',
      'Idempotent-Replayed',
      'Location',
      'Retry-After',
      'X-Agent-Id',
      'X-RateLimit-Limit',
      'X-RateLimit-Remaining',
      'X-RateLimit-Reset',
      'X-Request-Id',
    ],
    maxAge: oneDaySeconds,
  });
}
