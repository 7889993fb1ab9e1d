/**
 * Node's fetch gives up a reply whose head does not come within five minutes, and offers nothing against it. A turn may take
 * half an hour. Its dispatcher takes other bounds with each request, so ours asks the platform's own for none: the time that
 * an attempt may take is the SDK's to decide. Other platforms have no such bound, and ignore this.
 */
interface Dispatcher {
  dispatch(options: object, handler: object): boolean;
}

const platforms = Symbol.for('undici.globalDispatcher.1');

const patient: Dispatcher = {
  dispatch: (options, handler) => platformOf()!.dispatch({ ...options, headersTimeout: 0, bodyTimeout: 0 }, handler),
};

/** Part of a request's init, where the platform knows it. */
export function patience(): RequestInit {
  // Node 20 loads its fetch with the first use of one of its classes.
  void globalThis.Response;
  return platformOf() === undefined ? {} : ({ dispatcher: patient } as RequestInit);
}

const platformOf = (): Dispatcher | undefined => (globalThis as { [platforms]?: Dispatcher })[platforms];
