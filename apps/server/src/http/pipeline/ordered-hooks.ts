import type { App } from '../app-types.ts';

/** Adds to `app` itself, not to a separate scope, once every earlier plugin has been loaded. */
export function addInOrder(app: App, add: () => void): void {
  app.register(
    Object.assign(
      (_app: unknown, _options: unknown, done: () => void): void => {
        add();
        done();
      },
      { [Symbol.for('skip-override')]: true },
    ),
  );
}
