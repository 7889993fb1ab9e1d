/**
 * Says what is wrong with an address that can never be sent to, as the end of a sentence that begins with the field's name; null
 * where nothing is. Every connection checks the address that it goes to.
 */
export function destinationFault(text: string, privateAddresses: boolean): string | null {
  const url = URL.parse(text);
  if (url === null) return 'must be a URL';
  if (url.protocol !== 'https:' && !(privateAddresses && url.protocol === 'http:')) return 'must begin with https://';
  if (url.username !== '' || url.password !== '') return 'must have no user in it';
  return null;
}
