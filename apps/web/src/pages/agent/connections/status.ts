import type { Connection } from '@lodge/sdk';
import type { Tone } from '../../../components/badge.tsx';

/** How a connection is, in a few words. */
export function connectionStatus({ enabled, status_reason: reason, oauth }: Connection): {
  readonly label: string;
  readonly tone: Tone;
} {
  if (!enabled) return reason === null ? { label: 'Off', tone: 'quiet' } : { label: 'Disabled by Lodge', tone: 'bad' };
  if (oauth === null) return { label: 'On', tone: 'good' };
  if (oauth.status === 'connected') return { label: 'Connected', tone: 'good' };
  return oauth.status === 'needed'
    ? { label: 'Needs a consent', tone: 'warning' }
    : { label: 'Not renewed, tried again', tone: 'warning' };
}

export const kindTitles: Readonly<Record<Connection['kind'], string>> = {
  host: 'Hosts by name',
  http: 'HTTP service',
  mcp: 'MCP server',
};
