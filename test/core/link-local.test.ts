import { describe, expect, test } from 'bun:test';
import { isLinkLocal } from '../../src/core/private-address.ts';

describe('refused as an upstream', () => {
  test.each([
    ['the metadata address', '169.254.169.254'],
    ['the first of the link', '169.254.0.0'],
    ['the last of the link', '169.254.255.255'],
    ['as one number', '2852039166'],
    ['in hexadecimal', '0xA9FEA9FE'],
    ['with octal parts', '0251.0376.0251.0376'],
    ['with the dot of the root', '169.254.169.254.'],
    ['IPv4 mapped to IPv6', '::ffff:169.254.169.254'],
    ['mapped, in hexadecimal', '::ffff:a9fe:a9fe'],
    ['mapped, written out', '0:0:0:0:0:FFFF:A9FE:0001'],
    ['behind NAT64', '64:ff9b::a9fe:a9fe'],
    ['IPv6 link-local', 'fe80::1'],
    ['with brackets', '[fe80::1]'],
    ['with a zone', 'fe80::1%eth0'],
    ['the end of the IPv6 range', 'febf:ffff::1'],
    ['metadata over IPv6', 'fd00:ec2::254'],
    ['the same, written out', 'FD00:0EC2:0:0:0:0:0:254'],
    ['metadata over IPv6, elsewhere', 'fd20:ce::254'],
    ['metadata in the shared range', '100.100.100.200'],
    ['metadata in the protocol range', '192.0.0.192'],
    ['the agent of a cloud', '168.63.129.16'],
    ['one of these, mapped', '::ffff:100.100.100.200'],
  ])('%s', (_name, address) => {
    expect(isLinkLocal(address)).toBe(true);
  });
});

describe('allowed', () => {
  test.each([
    ['loopback', '127.0.0.1'],
    ['loopback over IPv6', '::1'],
    ['private, 10', '10.0.0.1'],
    ['private, 192.168', '192.168.1.1'],
    ['private, 172.16', '172.16.0.1'],
    ['unique local', 'fd00::1'],
    ['the neighbour below', '169.253.255.255'],
    ['the neighbour above', '169.255.0.0'],
    ['the IPv6 neighbour below', 'fe7f::1'],
    ['the IPv6 neighbour above', 'fec0::1'],
    ['mapped loopback', '::ffff:127.0.0.1'],
    ['a public address', '93.184.216.34'],
    ['a name', 'api.example.com'],
    ['a name with these digits', '169.254.example'],
    ['no host at all', ''],
    ['no address', '::1::'],
  ])('%s', (_name, address) => {
    expect(isLinkLocal(address)).toBe(false);
  });
});
