import { upTo } from '../../shared/bounded.ts';

/** A call of `fetch` as Google's libraries make it. */
type LibraryInit = RequestInit & { readonly size?: number; readonly duplex?: 'half' };

/** Where a call does not say: of an answer without mail. */
const usualBytes = 1024 * 1024;

/**
 * `fetch` for Google's libraries, which bound nothing: a reader of more than `size` bytes of an answer gets a
 * `TooLargeError`. No redirect is followed, so that credentials go to no other host.
 */
export const boundedFetch =
  (signal?: AbortSignal) =>
  async (input: string | URL | Request, given?: RequestInit): Promise<Response> => {
    const init = (given ?? {}) as LibraryInit;
    const url = input instanceof Request ? input.url : input;
    const response = await fetch(url, {
      method: init.method ?? 'GET',
      headers: init.headers ?? {},
      redirect: 'error',
      ...(init.body && { body: init.body, duplex: 'half' }),
      ...((signal ?? init.signal) && { signal: signal ?? init.signal! }),
    });
    // A stream of what comes: a mail of 32 MiB that was read here would be copied three times more on its way.
    const body = response.body ? ReadableStream.from(upTo(response.body, init.size ?? usualBytes)) : null;
    return new Response(body, {
      status: response.status,
      headers: withoutCoding(response.headers),
    });
  };

/** The body is decoded. */
function withoutCoding(headers: Headers): Headers {
  const kept = new Headers(headers);
  kept.delete('content-encoding');
  kept.delete('content-length');
  return kept;
}
