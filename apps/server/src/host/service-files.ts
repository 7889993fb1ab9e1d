/** Files of Lodge as a service of systemd. */
export const unitName = 'lodge.service';
export const unitFile = `/etc/systemd/system/${unitName}`;
/** Settings of the service, credentials among them. */
export const environmentFile = '/etc/lodge.env';

/** Advice for a checkout that others than root can change. */
export const toRoot = (checkout: string): string =>
  `Make it root's: chown -R root: ${checkout} && chmod -R go-w ${checkout}, in a folder of root's as /opt.`;
