import { isJsonObject } from '@lodge/domain';
import { upTo } from '../shared/bounded.ts';
import { callSlack } from './calls.ts';
import type { SlackApi } from './calls.ts';
import { textOf } from '../shared/plain.ts';

const maxRedirects = 3;

/** The bytes of a file that was shared. The bot token goes to Slack's own hosts alone, also after a redirect. */
export async function openFile(
  api: SlackApi,
  token: string,
  id: string,
  maxBytes: number,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  const { file } = await callSlack(api, token, 'files.info', { file: id }, signal);
  if (!isJsonObject(file)) throw new Error('Slack did not describe the file');
  let url = textOf(file['url_private_download'], 2_000) || textOf(file['url_private'], 2_000);
  for (let hop = 0; hop <= maxRedirects; hop += 1) {
    if (!isSlackUrl(url, api)) throw new Error('the file does not lie at Slack');
    const response = await fetch(url, { headers: { authorization: `Bearer ${token}` }, redirect: 'manual', signal });
    const location = response.headers.get('location');
    if (response.status >= 300 && response.status < 400 && location !== null) {
      await response.body?.cancel();
      url = new URL(location, url).href;
      continue;
    }
    return bytesOf(response, textOf(file['mimetype']), maxBytes);
  }
  throw new Error('Slack redirects too often');
}

/** Without the right to read the file there comes a page to sign in, with status 200. */
async function bytesOf(response: Response, mediaType: string, maxBytes: number): Promise<AsyncIterable<Uint8Array>> {
  const isPage = (response.headers.get('content-type') ?? '').startsWith('text/html') && mediaType !== 'text/html';
  if (response.status !== 200 || isPage || response.body === null) {
    await response.body?.cancel();
    throw new Error(
      isPage ? 'Slack lets the app read no files: files:read is missing' : `Slack answered ${response.status}`,
    );
  }
  return upTo(response.body, maxBytes);
}

/** At Slack's hosts over TLS, or at the very host and scheme that the operator gave for the Web API. */
export function isSlackUrl(url: string, { apiUrl }: Pick<SlackApi, 'apiUrl'>): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname, host, username, password } = new URL(url);
  if (username !== '' || password !== '') return false;
  const api = new URL(apiUrl);
  if (host === api.host) return protocol === api.protocol || protocol === api.protocol.replace('http', 'ws');
  const isSecure = protocol === 'https:' || protocol === 'wss:';
  return (
    isSecure && (hostname === 'slack.com' || hostname.endsWith('.slack.com') || hostname.endsWith('.slack-files.com'))
  );
}
