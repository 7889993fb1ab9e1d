import { Type } from 'typebox';
import type { Static } from 'typebox';
import { maxPackageLength, maxPackages, packagePatterns } from '@lodge/domain';
import type { PackageManager } from '@lodge/domain';

const list = (manager: PackageManager, description: string, examples: string[]) =>
  Type.Array(Type.String({ maxLength: maxPackageLength, pattern: packagePatterns[manager], examples }), {
    maxItems: maxPackages,
    description,
  });

export const Packages = Type.Object(
  {
    apt: list('apt', "Packages of Debian's, each with an optional version: `<name>` or `<name>=<version>`.", [
      'ffmpeg',
    ]),
    pip: list('pip', 'Python packages: `<name>` or `<name>==<version>`.', ['pandas==2.3.1']),
    npm: list('npm', 'npm packages, for their commands: `<name>` or `<name>@<version>`.', ['@scope/cli@4']),
  },
  {
    title: 'Packages',
    additionalProperties: false,
    description: "Packages that root installs in the agent's machine beside the programs of its image.",
  },
);

export const PackagesInput = Type.Partial(Packages, {
  additionalProperties: false,
  description:
    "Packages that root installs in the agent's machine, for all its programs. It happens behind the reply: `settings_pending` is true until then. The lists are given as a whole: one that is left out is empty.",
  examples: [{ apt: ['ffmpeg'], pip: ['pandas==2.3.1'], npm: ['prettier@3'] }],
});
export type PackagesInput = Static<typeof PackagesInput>;
