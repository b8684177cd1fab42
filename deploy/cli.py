"""The command line."""

import argparse


def main() -> None:
    parser = argparse.ArgumentParser(prog="annals", description="A game service for historical empire games.")
    parser.parse_args()
    parser.print_help()


if __name__ == "__main__":
    main()
