import { Refusal } from '@lodge/domain';
import type { AccountDeps } from '../deps.ts';

/** Paths of what tokens are for. All are one service, so a token for one is a token for all. */
export const resourcePaths = ['', '/v1', '/v1/mcp'] as const;

/** Returns the resource of a request in one form (RFC 8707); null where it names none. Refuses another service's. */
export function resourceOf({ origin }: Pick<AccountDeps, 'origin'>, given: string | null): string | null {
  if (given === null) return null;
  const resource = given.endsWith('/') ? given.slice(0, -1) : given;
  if (resourcePaths.some((path) => resource === origin() + path)) return resource;
  throw new Refusal('invalid_target', `resource must be ${origin()}/v1/mcp, ${origin()}/v1 or ${origin()}.`);
}
