/** API keys of this service, wherever a client has put them: no guest sees one. */

/** The form of Lodge's keys; a guest's own servers may accept others in the same headers. */
export const ourKey = /lodge_live_/;

/**
 * The subprotocols that a client offers a guest. The API accepts a key as the subprotocol `bearer.<key>`, so a client may
 * send one here by mistake; it is removed. Null if none is left to offer.
 */
export function offersForGuest(header: string): string | null {
  const offers = header.split(',').map((offer) => offer.trim());
  const kept = offers.filter((offer) => offer !== '' && !ourKey.test(offer));
  return kept.length > 0 ? kept.join(', ') : null;
}
