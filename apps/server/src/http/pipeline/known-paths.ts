import { Refusal } from '@lodge/domain';
import type { RouteOptions } from 'fastify';

interface KnownPath {
  readonly segments: readonly string[];
  readonly methods: Set<string>;
  readonly public: boolean;
}

/** The existing paths and their methods, to tell 405 from 404. The router itself knows only path and method together. */
export class KnownPaths {
  private readonly paths = new Map<string, KnownPath>();

  add(route: RouteOptions): void {
    const known = this.paths.get(route.url) ?? {
      segments: segmentsOf(route.url),
      methods: new Set<string>(),
      public: route.config?.public ?? false,
    };
    for (const method of [route.method].flat()) known.methods.add(method);
    this.paths.set(route.url, known);
  }

  find(url: string): KnownPath | null {
    const segments = segmentsOf(url.split('?', 1)[0]!);
    for (const path of this.paths.values()) if (matches(path.segments, segments)) return path;
    return null;
  }
}

/** For a request that no route takes: 405 where the path takes other methods, else 404. */
export function routeRefusal(path: KnownPath | null): Refusal {
  if (!path) return new Refusal('route_not_found', 'Nothing is at this path. /v1/openapi.json lists what there is.');
  const allow = allowOf(path);
  return new Refusal('method_not_allowed', `This path takes ${allow}.`);
}

/** Value of the header Allow. */
export const allowOf = (path: KnownPath): string => [...path.methods, 'OPTIONS'].join(', ');

/** Segments as the router sees them: a trailing slash does not count. */
const segmentsOf = (path: string): string[] => path.replace(/\/$/, '').split('/').slice(1);

/** Like the router: a star at the end is any number of segments. */
function matches(pattern: readonly string[], segments: readonly string[]): boolean {
  const isOpen = pattern.at(-1) === '*';
  const fixed = isOpen ? pattern.slice(0, -1) : pattern;
  const fits = isOpen ? segments.length > fixed.length : segments.length === fixed.length;
  return fits && fixed.every((part, i) => part.startsWith(':') || part === segments[i]);
}
