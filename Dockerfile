# The image of the GitHub Action: the static binary, the git program with the three libraries that it
# loads (history and blobs are read several times faster than by go-git), and CA certificates.
# Nothing else: no shell, no package manager. The runner starts it as root in /github/workspace.
ARG GO_IMAGE=golang:1.26.8-bookworm@sha256:a688600ca24f8a4d3ca77f95b0dd40704a9fc787c826660eb7ba0b641b8b175d

FROM ${GO_IMAGE} AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
# The grammars take minutes to compile: once for each go.mod, as .ci/build would.
RUN p=github.com/smacker/go-tree-sitter; go build -trimpath -tags netgo,osusergo,nethttpomithttp2 \
    $p/bash $p/c $p/cpp $p/csharp $p/java $p/javascript $p/kotlin $p/lua $p/php $p/python $p/ruby $p/rust $p/scala \
    $p/swift $p/typescript/tsx $p/typescript/typescript
COPY . .
ARG VERSION=0.1.0-dev
RUN bash .ci/build /out "$VERSION"
RUN bash .ci/rootfs /out/ctxt /rootfs

FROM scratch
LABEL org.opencontainers.image.source="https://github.com/ctxt-dev/ctxt" \
      org.opencontainers.image.licenses="MIT"
COPY --from=build /rootfs/ /
ENTRYPOINT ["/ctxt"]
