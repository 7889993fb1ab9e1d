/** Programs of the host that building an image runs, each with its Debian package. Building needs root. */
export const hostTools = {
  mmdebstrap: 'mmdebstrap',
  'apt-get': 'apt',
  'dpkg-deb': 'dpkg',
  mke2fs: 'e2fsprogs',
  'qemu-img': 'qemu-utils',
  pip3: 'python3-pip',
  cpio: 'cpio',
  tar: 'tar',
  find: 'findutils',
  sh: 'dash',
  cat: 'coreutils',
  chroot: 'coreutils',
  mkdir: 'coreutils',
  rm: 'coreutils',
  flock: 'util-linux',
  setpriv: 'util-linux',
  unshare: 'util-linux',
} as const;

export type HostTool = keyof typeof hostTools;
