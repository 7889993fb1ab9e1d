import cors from '@fastify/cors';
import type { App } from '../app-types.ts';

const oneDaySeconds = 86_400;

/**
 * Lets pages of these origins call the API with a key. Sessions are excluded: a cookie is accepted only from Lodge's own
 * pages.
 */
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
      'If-None-Match',
      'If-Range',
      'Last-Event-ID',
      'Mcp-Protocol-Version',
      'Mcp-Session-Id',
      'Prefer',
      'Range',
      'Upload-Offset',
      'X-API-Key',
      'X-Conversation-Id',
    ],
    exposedHeaders: [
      'Accept-Ranges',
      'Content-Disposition',
      'Content-Range',
      'ETag',
      'Idempotent-Replayed',
      'Location',
      'Mcp-Session-Id',
      'Retry-After',
      'Upload-Offset',
      'X-Agent-Id',
      'X-RateLimit-Limit',
      'X-RateLimit-Remaining',
      'X-RateLimit-Reset',
      'X-Request-Id',
    ],
    maxAge: oneDaySeconds,
  });
}
